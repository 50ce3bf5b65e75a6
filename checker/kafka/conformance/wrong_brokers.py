"""Settings of the broker model that no release has: each has to be noticed."""

from __future__ import annotations

from collections.abc import Mapping

from checker.kafka.conformance.rows import Wrong
from model.kafka.bounds import FAULTS

MOVING = {"epoch.cache": "kept", "min.insync.replicas": "1"}
ONE_MOVE = {"replicas": 2, "log_size": 2, "directory_moves": 1}
"""A replica moves between log directories: of two, so that walks meet it often."""
ELECTIONS_ALONE = {
    **dict.fromkeys((fault.name for fault in FAULTS), 0),
    **ONE_MOVE,
    "preferred_elections": 6,
    "false_fencings": 4,
    "max_records": 6,
}
"""The same, and nothing happens besides but elections."""

WRONG: Mapping[str, Wrong] = {
    "truncation": Wrong("high_watermark"),
    "join.isr.from.epoch.start": Wrong("false"),
    "fetch.fenced.by.epoch": Wrong("false"),
    "diverging.fetch.leaves.leo": Wrong("false"),
    "diverging.answer.hw.ignored": Wrong("false"),
    "answer.matches.request.epoch": Wrong(settings={"fetch.answers": "in_flight"}),
    "maximal.isr": Wrong("false"),
    "isr.unfenced.brokers.only": Wrong("false"),
    "broker.epoch.checked": Wrong("false"),
    "hw.frozen.below.min.isr": Wrong(settings={"min.insync.replicas": "2"}),
    "eligible.leader.replicas": Wrong(),
    "last.known.leader.election": Wrong(),
    "reset.follower.leo.every.epoch": Wrong("true"),
    "pending.isr.survives.image": Wrong("true", settings={"isr.answer.apart": "true"}),
    "assignment.keeps.elr": Wrong(),
    "min.isr.change.keeps.elr": Wrong("true"),
    "registration.counts.directories": Wrong("true"),
    "quick.bounce": Wrong("followers"),
    "leader.enters.epoch": Wrong(settings={"epoch.cache": "kept"}),
    "truncation.at.end.clears.epochs": Wrong(settings={"epoch.cache": "kept"}),
    "every.truncation.marks.future.replica": Wrong("true", MOVING, ELECTIONS_ALONE, rare=True),
    "swapped.log.keeps.epochs": Wrong("true", MOVING, ONE_MOVE),
    "new.epoch.restarts.log.dir.fetcher": Wrong("false", MOVING, ONE_MOVE),
    "log.dir.fetcher.begins.at.its.hw": Wrong("false", MOVING, ELECTIONS_ALONE),
}
