"""Settings of the broker model that no release has: each has to be noticed."""

from __future__ import annotations

from collections.abc import Mapping

from checker.kafka.conformance.rows import Wrong

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
}
