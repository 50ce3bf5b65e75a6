"""Whose rule a setting is: by whose release it goes while brokers of two releases run at once.

A setting that is not in the table is the cluster's: operators or producers choose it, it says what
the model leaves out, or it is a fix that no release has.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Whose(StrEnum):
    """Whose rule a setting is, and so by whose release it goes while brokers are upgraded."""

    LEADER = "leader"
    FOLLOWER = "follower"
    CONTROLLER = "controller"


WHOSE: Mapping[str, Whose] = {
    "replica.lag.max.messages": Whose.LEADER,
    "join.isr.from.epoch.start": Whose.LEADER,
    "diverging.fetch.leaves.leo": Whose.LEADER,
    "isr.changes": Whose.LEADER,
    "maximal.isr": Whose.LEADER,
    "hw.frozen.below.min.isr": Whose.LEADER,
    "leader.enters.epoch": Whose.LEADER,
    "truncation": Whose.FOLLOWER,  # the leader answers each version of a request as it asks
    "fetch.fenced.by.epoch": Whose.FOLLOWER,  # a request without an epoch is not fenced
    "truncate.every.epoch": Whose.FOLLOWER,
    "diverging.answer.hw.ignored": Whose.FOLLOWER,
    "answer.matches.request.epoch": Whose.FOLLOWER,
    "append.up.to.leader.epoch": Whose.FOLLOWER,
    "truncation.at.end.clears.epochs": Whose.FOLLOWER,
    "empty.answer.keeps.fetched.epoch": Whose.FOLLOWER,
    "epoch.file": Whose.FOLLOWER,
    "starting.anew.moves.hw": Whose.FOLLOWER,
    "unclean.election.by.setting": Whose.CONTROLLER,
    "isr.shrink.starts.epoch": Whose.CONTROLLER,
    "quick.bounce": Whose.CONTROLLER,
    "isr.unfenced.brokers.only": Whose.CONTROLLER,
    "broker.epoch.checked": Whose.CONTROLLER,
    "eligible.leader.replicas": Whose.CONTROLLER,
    "last.known.leader.election": Whose.CONTROLLER,
    "assignment.keeps.elr": Whose.CONTROLLER,
    "reassignment.waits.for.all": Whose.CONTROLLER,
}
"""The rules that releases differ in. What is not here, operators choose, or no release has it."""

WAITS_FOR_FEATURES = frozenset({
    "truncation", "fetch.fenced.by.epoch", "isr.changes", "maximal.isr", "isr.shrink.starts.epoch",
    "eligible.leader.replicas", "last.known.leader.election",
})  # fmt: skip
"""Those that stay as they are in new code, until the version of the protocol or a feature is raised

(`inter.broker.protocol.version`, `metadata.version`, `eligible.leader.replicas.version`).
"""
