"""What was read of a cluster and what it means, as plain data for `--json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from checker.kafka.live.danger import Danger, Dangers
from checker.kafka.live.snapshot import Snapshot
from checker.kafka.live.unseen import unseen_of


def of_snapshot(cluster: Snapshot) -> dict[str, Any]:
    """The cluster, and what it did not tell."""
    return {
        "cluster": cluster.cluster_id,
        "taken": cluster.taken,
        "release": cluster.line,
        "metadata_version": cluster.level,
        "elr": None if cluster.features is None else cluster.has_elr,
        "brokers": [
            {
                "id": broker.id, "rack": broker.rack, "fenced": broker.fenced,
                "release": broker.release,
                "directories": None if broker.directories is None else [
                    asdict(each) for each in broker.directories
                ],
            }
            for broker in cluster.brokers
        ],
        "voters": None if cluster.quorum is None else [v.id for v in cluster.quorum.voters],
        "topics": len(cluster.topics),
        "partitions": sum(len(topic.partitions) for topic in cluster.topics),
        "unread": [asdict(each) for each in cluster.unread],
    }  # fmt: skip


def of_cluster(cluster: Snapshot, dangers: Dangers) -> dict[str, Any]:
    """The cluster, its dangers, and what was not told, judged or shown."""
    return {
        **of_snapshot(cluster),
        "dangers": [_of_danger(each) for each in dangers.found],
        "not_judged": [
            {"bugs": list(rule.bugs), "looks_at": rule.looks_at, "without": why}
            for rule, why in dangers.not_judged
        ],
        "unseen": [{"findings": list(e.findings), "look": e.look} for e in unseen_of(cluster)],
    }  # fmt: skip


def _of_danger(danger: Danger) -> dict[str, Any]:
    rule = danger.rule
    return {
        "bugs": list(rule.bugs), "looks_at": rule.looks_at, "words": rule.words, "now": rule.now,
        "hits": [asdict(hit) for hit in danger.hits],
    }  # fmt: skip
