"""Settings of the model `kafka_tiered` that no release has: each has to be noticed."""

from __future__ import annotations

from collections.abc import Mapping

from checker.kafka.conformance.rows import Wrong

WRONG: Mapping[str, Wrong] = {
    "tier.indexes.before.truncating": Wrong(forbids=True),
    "tier.build.is.resumed": Wrong(),
    "tier.build.moves.local.start": Wrong(),
    "restart.keeps.log.start": Wrong(),
    "restart.keeps.last.epoch": Wrong(rare=True),
    "remote.start.is.looked.up": Wrong(),
    "remote.expiry.takes.furthest": Wrong(),
    "local.deletion.moves.log.start": Wrong(),
    "remote.end.by.lineage": Wrong(rare=True),
    "remote.end.is.there": Wrong(),
    "remote.start.by.lineage": Wrong(),
    "remote.map.drops.covered": Wrong(),
    "remote.map.keeps.longer": Wrong(rare=True),
    "truncation.below.local.keeps.start": Wrong(rare=True),
    "remote.read.ends": Wrong("with_either_epoch"),
    "remote.deletion.is.fenced": Wrong(forbids=True),
    "untiered.log.is.local": Wrong(),
}
