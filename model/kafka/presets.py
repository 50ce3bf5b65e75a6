"""Kafka versions as settings: which fixes each has, and its defaults.

Each is the first release of its series, as it comes, with a broker of its own version throughout;
`kafka-fixed` is the newest with every fix that no release has: of findings, and of KAFKA-1148.
Sources for each line are in `docs/broker-model.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BEFORE_KIP_101: dict[str, Any] = {
    "acks": "1",
    "min.insync.replicas": "1",
    "unclean.leader.election.enable": "true",
    "isr.changes": "zookeeper",
    "isr.shrink.starts.epoch": "by_controller",
    "quick.bounce": "followers",
    "truncation": "high_watermark",
    "truncate.every.epoch": "false",
    "join.isr.from.epoch.start": "false",
    "fetch.fenced.by.epoch": "false",
    "diverging.fetch.leaves.leo": "false",
    "diverging.answer.hw.ignored": "false",
    "answer.matches.request.epoch": "false",
    "maximal.isr": "false",
    "isr.unfenced.brokers.only": "false",
    "broker.epoch.checked": "false",
    "hw.frozen.below.min.isr": "false",
    "eligible.leader.replicas": "false",
    "last.known.leader.election": "false",
    "assignment.keeps.elr": "false",
    "reset.follower.leo.every.epoch": "false",
    "fetch.answers": "in_flight",
    "leader.enters.epoch": "false",
    "truncation.at.end.clears.epochs": "false",
    "epoch.file": "at_once",
    "starting.anew.moves.hw": "false",
}
_KIP_101 = _BEFORE_KIP_101 | {
    "truncation": "leader_epoch",
    "unclean.leader.election.enable": "false",
}
_KIP_279 = _KIP_101 | {"truncation": "leader_epoch_iterated"}
_KIP_320 = _KIP_279 | {
    "truncate.every.epoch": "true",
    "join.isr.from.epoch.start": "true",
    "fetch.fenced.by.epoch": "true",
    "leader.enters.epoch": "true",
}
_KIP_497 = _KIP_320 | {
    "starting.anew.moves.hw": "true",
    "isr.changes": "alter_partition",
    "maximal.isr": "true",
    "quick.bounce": "refused",
    "truncation.at.end.clears.epochs": "true",
}
_KRAFT = _KIP_497 | {
    "acks": "all",
    "unclean.election.by.setting": "false",
    "isr.shrink.starts.epoch": "always",
    "truncation": "diverging_fetch",
    "diverging.fetch.leaves.leo": "true",
    "diverging.answer.hw.ignored": "true",
    "isr.unfenced.brokers.only": "true",
    "broker.epoch.checked": "true",
}
_FROZEN_HW = _KRAFT | {
    "isr.shrink.starts.epoch": "never",
    "hw.frozen.below.min.isr": "true",
    "epoch.file": "unsynced",
}
_UNCLEAN_BY_SETTING = _FROZEN_HW | {
    "unclean.election.by.setting": "true",
    "epoch.file": "later",
}
_ELR = _UNCLEAN_BY_SETTING | {
    "answer.matches.request.epoch": "true",
    "eligible.leader.replicas": "true",
    "last.known.leader.election": "true",
    "fetch.answers": "at_once",
}
_ASSIGNMENT_KEEPS_ELR = _ELR | {
    "assignment.keeps.elr": "true",
    "reassignment.waits.for.all": "false",
}
_FIXED = _ASSIGNMENT_KEEPS_ELR | {
    "pending.isr.survives.image": "true",
    "min.isr.change.keeps.elr": "true",
    "clearing.updates.elr.index": "true",
    "min.isr.counts.own.replicas": "true",
    "last.member.is.last.known.leader": "true",
    "elr.of.replicas.only": "true",
    "reassignment.waits.for.all": "true",
    "replacing.sets.both.lists": "true",
    "registration.counts.directories": "true",
    "reset.follower.leo.every.epoch": "true",
    "truncation.matches.request.epoch": "true",
    "produce.matches.leader.epoch": "true",
    "isr.join.checks.replica": "true",
    "isr.join.checks.log.start": "true",
    "fetch.noted.in.its.epoch": "true",
    "session.repeats.diverging.answer": "true",
    "swapped.log.keeps.epochs": "true",
}

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "kafka-0.8.2": _BEFORE_KIP_101 | {"replica.lag.max.messages": "1"},
    "kafka-0.10": _BEFORE_KIP_101,
    "kafka-0.11": _KIP_101,
    "kafka-2.0": _KIP_279,
    "kafka-2.1": _KIP_320,
    "kafka-2.7": _KIP_497,
    "kafka-3.5": _KRAFT,
    "kafka-3.7": _FROZEN_HW,
    "kafka-3.9": _UNCLEAN_BY_SETTING,
    "kafka-4.0": _UNCLEAN_BY_SETTING,
    "kafka-4.1": _ELR,
    "kafka-4.2": _ELR,
    "kafka-4.3": _ASSIGNMENT_KEEPS_ELR,
    "kafka-fixed": _FIXED,
}
