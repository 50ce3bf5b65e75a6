"""Kafka versions as settings: what each release has, and `kafka-fixed` with every fix besides.

A preset is the first release of its line that differs from those before, as it comes, with brokers
of its own version throughout; what each has is read off `releases.py`. `kafka-fixed` is the newest
with every fix that no release has: of findings, and of KAFKA-1148 and KAFKA-20961; but those of
findings 0017 and 0020 (decision 0088).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.kafka.releases import SERIES, Version, rules_of, version_of

_NAMES = (
    "0.8.2 0.10 0.11 2.0 2.0.1 2.1 2.2 2.4.1 2.6.1 2.7 2.7.2 2.8 2.8.1 3.0 3.3 3.4.1 3.5 3.5.1 3.6 "
    "3.7 3.8 3.9 3.9.1 4.0 4.0.1 4.1 4.2 4.3"
)
_NAMED = _NAMES.split()

_FIXES: dict[str, Any] = {
    "pending.isr.survives.image": "true",
    "min.isr.change.keeps.elr": "true",
    "elr.min.isr.read.by.all": "true",
    "clearing.updates.elr.index": "true",
    "min.isr.counts.own.replicas": "true",
    "last.member.is.last.known.leader": "true",
    "elr.of.replicas.only": "true",
    "unregistration.leaves.elr": "true",
    "reassignment.waits.for.all": "true",
    "replacing.sets.both.lists": "true",
    "registration.counts.directories": "true",
    "directory.failure.leaves.elr": "true",
    "reset.follower.leo.every.epoch": "true",
    "truncation.matches.request.epoch": "true",
    "produce.matches.leader.epoch": "true",
    "isr.join.checks.replica": "true",
    "isr.join.checks.log.start": "true",
    "fetch.noted.in.its.epoch": "true",
    "log.start.read.first": "true",
    "truncation.begins.segment": "true",
    "session.repeats.diverging.answer": "true",
    "swapped.log.keeps.epochs": "true",
}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    **{f"kafka-{name}": rules_of(version_of(name)) for name in _NAMED},
    "kafka-fixed": rules_of(version_of(SERIES[-1])) | _FIXES,
}


def preset_of(version: Version) -> str:
    """The preset that has a release's rules: the newest up to it, or the first after it."""
    rules = rules_of(version)
    alike = [name for name in _NAMED if PRESETS[f"kafka-{name}"] == rules]
    upto = [name for name in alike if version_of(name) <= version]
    return f"kafka-{upto[-1] if upto else alike[0]}"
