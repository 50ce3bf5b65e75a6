"""Settings of the model `kafka_transactions` that no release has: each has to be noticed."""

from __future__ import annotations

from collections.abc import Mapping

from checker.kafka.conformance.rows import Wrong
from checker.kafka.conformance.transactions import FAULTS, VERIFICATION, VERSION

A_BUMP_IS_LOST = {
    **dict.fromkeys(FAULTS, 0),
    "coordinator_failovers": 1,
    "late_produces": 2,
    "lost_responses": 2,
}
"""A producer asks for another epoch after a record that it has given up, and nothing else fails."""

WRONG: Mapping[str, Wrong] = {
    VERSION: Wrong("0", {VERSION: "2"}, forbids=True, since="4.0.0"),
    VERIFICATION: Wrong("false", {VERSION: "0"}, forbids=True),
    "after.a.failed.record": Wrong("same_epoch", {VERSION: "0"}),
    "marker.names.coordinator.epoch": Wrong("false"),
    "marker.epoch.is.newer": Wrong(),
    "marker.retry.is.taken": Wrong("false"),
    "markers.keep.producer.state": Wrong("false", bounds={"producer_expiries": 1}),
    "cancels.only.its.own.markers": Wrong("false"),
    "timeouts.bump.the.epoch": Wrong("false", {VERSION: "0"}),
    "failed.fences.count.once": Wrong("false", {VERSION: "0"}, {"failed_appends": 2}),
    "fences.bump.once": Wrong("false", {VERSION: "2"}, since="4.0.1"),
    "markers.are.sent.again": Wrong("false", bounds={"failed_sends": 1}),
    "loads.replace.a.cache": Wrong("false", bounds={"failed_unloads": 1}),
    "completion.is.noticed": Wrong("false", bounds={"missed_answers": 1}),
    "verified.records.are.guarded": Wrong("false"),
    "next.record.waits.for.the.marker": Wrong("false", {VERSION: "2"}, since="4.0.0"),
    "stale.epoch.is.told": Wrong(),
    "last.epoch.is.logged": Wrong("true", {VERSION: "0"}, A_BUMP_IS_LOST),
    "load.waits.for.high.watermark": Wrong("true", forbids=True),
    "publishes.abandoned.loads": Wrong("false", forbids=True),
    "failed.loads.count": Wrong("false", forbids=True),
}

UNSEEN = {
    "fences.take.a.new.id": "no producer id runs out of epochs",
    "next.id.is.told": "no producer id runs out of epochs",
    "fences.at.the.last.epoch": "no producer id runs out of epochs",
    "clocks.may.go.back": "time goes on from step to step",
    "dead.values.are.blank": "how coarse the model is: Kafka is compared with it as it is without",
}
"""Settings that no step of a coordinator depends on here, with the reason."""
