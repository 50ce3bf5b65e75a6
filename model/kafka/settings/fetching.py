"""Fixes of fetches, produce requests and ISR changes, and how late the responses may be."""

from __future__ import annotations

from dataclasses import dataclass

from model.kafka.choices import FetchAnswers
from model.language import Role, setting


@dataclass(frozen=True)
class FetchingRules:
    """What a leader and a follower know of each other while requests are in flight."""

    reset_leo_every_epoch: bool = setting(
        False,
        "a leader forgets its followers' LEOs at every new leader epoch",
        "reset.follower.leo.every.epoch",
        at="Replica.resetReplicaState",
        about="finding 0001",
        fix=True,
    )
    reset_leo_after_skip: bool = setting(
        False,
        "a leader forgets its followers' LEOs at a leader epoch that is not the next one",
        "reset.follower.leo.after.skipped.epoch",
        at="Replica.resetReplicaState",
        about="finding 0001",
    )
    produce_matches_leader_epoch: bool = setting(
        False,
        "a produce request succeeds only in the leader epoch in which its record was appended",
        "produce.matches.leader.epoch",
        at="Partition.checkEnoughReplicasReachOffset",
        about="KAFKA-1148",
        fix=True,
    )
    truncation_matches_request_epoch: bool = setting(
        False,
        "a follower truncates only in the leader epoch of its request",
        "truncation.matches.request.epoch",
        at="AbstractFetcherThread.truncateOnFetchResponse",
        about="finding 0009",
        fix=True,
    )
    isr_join_checks_replica: bool = setting(
        False,
        "a follower joins the ISR by the leader's present Replica of it, not an earlier one",
        "isr.join.checks.replica",
        at="Partition.needsExpandIsr",
        about="finding 0008",
        fix=True,
    )
    isr_join_checks_log_start: bool = setting(
        False,
        "a follower joins the ISR once its log starts where the leader's does, or later",
        "isr.join.checks.log.start",
        at="Partition.isFollowerInSync",
        about="finding 0012",
        fix=True,
    )
    fetch_noted_in_its_epoch: bool = setting(
        False,
        "a fetch is recorded only in the leader epoch in which it was checked",
        "fetch.noted.in.its.epoch",
        at="Partition.updateFollowerFetchState",
        about="finding 0008",
        fix=True,
    )
    log_start_read_first: bool = setting(
        False,
        "a leader reads where its log starts before its high watermark, not after",
        "log.start.read.first",
        at="Partition.readRecords",
        about="finding 0016",
        fix=True,
    )
    refused_isr_change_moves_hw: bool = setting(
        False,
        "a leader computes its HW again after a refused AlterPartition request",
        "refused.isr.change.moves.hw",
        at="Partition.submitAlterPartition",
        about="finding 0017, KAFKA-13091",
    )
    isr_answer_apart: bool = setting(
        False,
        "a leader may get the AlterPartition response before it applies the metadata image",
        "isr.answer.apart",
        at="Partition.handleAlterPartitionUpdate",
        about="finding 0002",
        since="2.8.0",
        role=Role.FINENESS,
    )
    pending_isr_survives_image: bool = setting(
        False,
        "the image of a known partition epoch leaves a pending ISR change",
        "pending.isr.survives.image",
        at="Partition.updateAssignmentAndIsr",
        about="finding 0002",
        fix=True,
    )
    fetch_answers: FetchAnswers = setting(
        FetchAnswers.AT_ONCE,
        "whether a fetch response may be late",
        "fetch.answers",
        at="AbstractFetcherThread.processFetchRequest",
        since="0.8.0",
        history="in_flight 0.8.2, at_once 3.9.1 4.0.1 4.1.0",
        evidence="how fine the model is: with that rule, late answers add no violation",
        catalogue="18",
        role=Role.FINENESS,
    )
    truncation_begins_segment: bool = setting(
        False,
        "a log that is truncated goes on in a new segment: no place of a file is written twice",
        "truncation.begins.segment",
        at="UnifiedLog.truncateTo",
        about="finding 0019",
        fix=True,
    )
    fetch_sessions: bool = setting(
        False,
        "a fetch response leaves out what the leader's fetch session has sent before",
        "fetch.sessions",
        at="CachedPartition.maybeUpdateResponseData",
        about="KIP-227, KAFKA-14704, KAFKA-18991",
        since="1.1.0",
        role=Role.FINENESS,
    )
    session_repeats: bool = setting(
        False,
        "a fetch session sends again what it sent with a diverging epoch",
        "session.repeats.diverging.answer",
        at="CachedPartition.maybeUpdateResponseData",
        about="finding 0015",
        fix=True,
    )
