"""Settings of the broker model that no release has: each has to be noticed."""

from __future__ import annotations

from collections.abc import Mapping

WRONG: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "truncation": ("high_watermark", {}),
    "join.isr.from.epoch.start": ("false", {}),
    "fetch.fenced.by.epoch": ("false", {}),
    "diverging.fetch.leaves.leo": ("false", {}),
    "diverging.answer.hw.ignored": ("false", {}),
    "answer.matches.request.epoch": ("", {"fetch.answers": "in_flight"}),
    "maximal.isr": ("false", {}),
    "isr.unfenced.brokers.only": ("false", {}),
    "broker.epoch.checked": ("false", {}),
    "hw.frozen.below.min.isr": ("", {"min.insync.replicas": "2"}),
    "eligible.leader.replicas": ("", {}),
    "last.known.leader.election": ("", {}),
    "reset.follower.leo.every.epoch": ("true", {}),
    "pending.isr.survives.image": ("true", {"isr.answer.apart": "true"}),
    "assignment.keeps.elr": ("", {}),
    "min.isr.change.keeps.elr": ("true", {}),
    "registration.counts.directories": ("true", {}),
    "quick.bounce": ("followers", {}),
    "leader.enters.epoch": ("", {"epoch.cache": "kept"}),
    "truncation.at.end.clears.epochs": ("", {"epoch.cache": "kept"}),
}
"""Settings by what is wrong for them (empty: the other value), with what they need to matter."""
