"""Settings of the model `kraft` that no release has, or a quorum has not: each is noticed."""

from __future__ import annotations

from collections.abc import Mapping

from checker.kafka.conformance.quorums import (
    AUTO_JOIN,
    AUTO_JOIN_SINCE,
    RECORD_BY_RECORD,
    RISES_SINCE,
    RISING,
    STATIC,
)
from checker.kafka.conformance.rows import Wrong

JOINS = {AUTO_JOIN: "true", "observers": "1"}

WRONG: Mapping[str, Wrong] = {
    "kraft.version": Wrong("0", forbids=True),
    "kraft.version.may.rise": Wrong("false", STATIC, RISING, forbids=True, since=RISES_SINCE),
    "observers": Wrong("1", forbids=True),
    AUTO_JOIN: Wrong("false", JOINS, forbids=True, since=AUTO_JOIN_SINCE),
    "auto.join.once": Wrong("true", JOINS, forbids=True, since=AUTO_JOIN_SINCE),
    "pre.vote": Wrong(),
    "vote.names.directory": Wrong("false", STATIC, {"disk_losses": 2}),
    "quorum.state.names.directory": Wrong("true", STATIC, {"disk_losses": 1, "crashes": 2}),
    "resigned.stands.again": Wrong(),
    "reconfiguration.waits.for.epoch": Wrong("false"),
    "one.change.at.a.time": Wrong("false"),
    "added.voter.has.caught.up": Wrong("false", {"observers": "1"}),
    "removed.leader.is.not.counted": Wrong("false"),
    "truncation.rereads.control.records": Wrong("true"),
    "snapshot.is.always.read": Wrong("true", RECORD_BY_RECORD, {"snapshots": 2}),
    "snapshot.of.earlier.epoch.is.taken": Wrong("true", RECORD_BY_RECORD, {"snapshots": 2}),
    "unknown.endpoints.are.no.leader": Wrong("true", {}, {"crashes": 2, "disk_losses": 2}),
    "snapshot.keeps.earlier.voters": Wrong("true", RECORD_BY_RECORD, {"snapshots": 2}),
    "leader.counts.what.is.flushed": Wrong("true", bounds={"power_losses": 2}),
    "restart.flushes.log": Wrong("true", bounds={"power_losses": 2}),
    "high.watermark.exceeds.epoch.start": Wrong("false"),
    "follower.flushes.before.fetch": Wrong("false", bounds={"power_losses": 2}),
    "observer.flushes.before.fetch": Wrong("false", {"observers": "1"}, {"power_losses": 2}),
    "leader.restarts": Wrong("unattached"),
    "fetch.offset.may.fall": Wrong("false", forbids=True),
    "snapshot.is.flushed": Wrong("false", RECORD_BY_RECORD, {"snapshots": 2, "power_losses": 2}),
    "whole.fetches": Wrong("false", forbids=True),
}

UNSEEN = {
    "control.records.are.skipped": "what QuorumController does; a property alone asks for it",
    "dead.values.are.blank": "how coarse the model is: Kafka is compared with it as it is without",
}
"""Settings that no step of a controller depends on, with the reason."""
