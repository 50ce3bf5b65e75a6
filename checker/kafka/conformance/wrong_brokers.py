"""Settings of the broker model that no release has: each has to be noticed."""

from __future__ import annotations

from collections.abc import Mapping

from checker.kafka.conformance.rows import Wrong

MOVING = {"epoch.cache": "kept", "min.insync.replicas": "1"}
ONE_MOVE = {"replicas": 2, "log_size": 2, "directory_moves": 1}
"""A replica moves between log directories: of two, so that walks meet it often."""

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
    "every.truncation.marks.future.replica": Wrong("true", MOVING, ONE_MOVE),
    "swapped.log.keeps.epochs": Wrong("true", MOVING, ONE_MOVE),
    "new.epoch.restarts.log.dir.fetcher": Wrong("false", MOVING, ONE_MOVE),
    "log.dir.fetcher.begins.at.its.hw": Wrong("false", MOVING, ONE_MOVE),
}
