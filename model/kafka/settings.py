"""The settings of the broker model: Kafka's own, and one for each fix of the replication protocol.

A fix names its KIP or issue; "finding" is one of `docs/findings`, and no release has its fix. The
defaults are those of Kafka 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from model.acks import Acks
from model.kafka.choices import (
    ConsumerCommits,
    EpochCache,
    EpochFile,
    FetchAnswers,
    IsrChanges,
    LogFile,
    LogStartFile,
    PreferredLeader,
    QuickBounce,
    ShrinkStartsEpoch,
    Truncation,
    UpgradeTo,
)
from model.kafka.racks import Racks, racks_within
from model.language import setting
from model.replicated_log import REPLICAS


@dataclass(frozen=True)
class KafkaSettings:
    """What an operator chooses, and which fixes the Kafka version has."""

    not_modelled: ClassVar[dict[str, str]] = {
        name: "there is no time in the model, so that a follower may be dropped, and a broker "
        "fenced, at any moment; how often is a bound, such as --false-fencings"
        for name in (
            "replica.lag.time.max.ms", "broker.session.timeout.ms", "replica.fetch.wait.max.ms",
            "zookeeper.session.timeout.ms", "broker.heartbeat.interval.ms",
        )
    }  # fmt: skip

    @property
    def with_zookeeper(self) -> bool:
        """The metadata are in ZooKeeper, and not in a log that brokers read in order (KRaft).

        Only there the controller's own shrinks of the ISR alone start epochs.
        """
        return self.shrink_starts_epoch == ShrinkStartsEpoch.BY_CONTROLLER

    min_insync_replicas: int = setting(
        1, "acks=all needs so many ISR members", "min.insync.replicas", low=1
    )
    min_insync_replicas_later: int = setting(
        0, "what an operator changes min.insync.replicas to; 0: nobody does",
        "min.insync.replicas.later",
    )  # fmt: skip
    replication_factor: int = setting(
        0,
        "so many brokers have a replica at first, so that replicas can move; 0: all of them",
        "replication.factor",
        high=REPLICAS,
    )
    first_partition_replicas: int = setting(
        0,
        "how many replicas the topic's first partition has, if this is another one; 0: as many",
        "first.partition.replicas",
        high=REPLICAS,
    )
    acks: Acks = setting(Acks.ALL, "what a producer waits for", "acks")
    unclean_leader_election_enable: bool = setting(
        False,
        "with no ISR member live, any live replica may lead",
        "unclean.leader.election.enable",
    )
    unclean_election_by_setting: bool = setting(
        True,
        "the controller heeds unclean.leader.election.enable (KRaft: KAFKA-12670)",
        "unclean.election.by.setting",
    )
    replica_lag_max_messages: int = setting(
        0,
        "the ISR rule before 0.9: drop a follower that is more records behind; 0: by time",
        "replica.lag.max.messages",
    )
    followers_keep_up: bool = setting(
        False, "live followers fetch within replica.lag.time.max.ms", "followers.keep.up"
    )
    shutdowns_in_turn: bool = setting(
        False,
        "a broker is stopped cleanly only while all others are up and in sync: a rolling restart",
        "shutdowns.in.turn",
    )
    log_flush_interval_messages: int = setting(
        0, "1: each append is flushed; 0: left to the operating system",
        "log.flush.interval.messages",
    )  # fmt: skip
    broker_rack: Racks = setting(
        Racks.SPREAD,
        "which brokers share a rack; of three or four, letters may say it, as in aab",
        "broker.rack",
        within=racks_within,
    )
    preferred_leader: PreferredLeader = setting(
        PreferredLeader.ANY, "which broker a preferred election picks", "preferred.leader"
    )
    follower_reads: bool = setting(
        False, "consumers may read from followers (KIP-392)", "follower.reads"
    )
    consumer_commits: ConsumerCommits = setting(
        ConsumerCommits.AFTER, "when the consumer commits its offset", "consumer.commits"
    )

    isr_changes: IsrChanges = setting(
        IsrChanges.ALTER_PARTITION, "how a leader has the ISR changed", "isr.changes"
    )
    shrink_starts_epoch: ShrinkStartsEpoch = setting(
        ShrinkStartsEpoch.NEVER,
        "which shrinks of the ISR start a leader epoch (KAFKA-15021)",
        "isr.shrink.starts.epoch",
    )
    quick_bounce: QuickBounce = setting(
        QuickBounce.REFUSED, "who may be back before its stop is noticed", "quick.bounce"
    )
    truncation: Truncation = setting(
        Truncation.DIVERGING_FETCH, "how a follower finds what to truncate", "truncation"
    )
    truncates_every_epoch: bool = setting(
        True,
        "a follower truncates anew in every leader epoch, even under the same leader (KAFKA-7164)",
        "truncate.every.epoch",
    )
    join_isr_from_epoch_start: bool = setting(
        True,
        "to join the ISR a follower must have reached the start of the leader's epoch (KAFKA-7128)",
        "join.isr.from.epoch.start",
    )
    fetch_fenced_by_epoch: bool = setting(
        True,
        "leader and follower must agree on the leader epoch (KIP-320)",
        "fetch.fenced.by.epoch",
    )
    diverging_fetch_leaves_leo: bool = setting(
        True,
        "a fetch that diverges does not change the LEO that the leader knows (KAFKA-13141)",
        "diverging.fetch.leaves.leo",
    )
    diverging_hw_ignored: bool = setting(
        True, "the HW of a diverging answer is ignored (KAFKA-14704)", "diverging.answer.hw.ignored"
    )
    answer_matches_epoch: bool = setting(
        True,
        "an answer counts only in the leader epoch that it was asked for in (KAFKA-18991)",
        "answer.matches.request.epoch",
    )
    appends_up_to_epoch: bool = setting(
        True,
        "a follower appends no record of a later leader epoch than its own (KAFKA-18723)",
        "append.up.to.leader.epoch",
    )
    maximal_isr: bool = setting(True, "the HW counts the pending ISR too (KIP-497)", "maximal.isr")
    unfenced_brokers_only: bool = setting(
        True, "only unfenced brokers may join the ISR (KIP-841)", "isr.unfenced.brokers.only"
    )
    broker_epoch_checked: bool = setting(
        True,
        "an ISR change names broker epochs, which must be current (KIP-903)",
        "broker.epoch.checked",
    )
    hw_frozen_below_min_isr: bool = setting(
        True,
        "no HW advance while the ISR is below its minimum (KAFKA-15583)",
        "hw.frozen.below.min.isr",
    )
    eligible_leader_replicas: bool = setting(
        True,
        "replicas that may lead although they left the ISR (KIP-966)",
        "eligible.leader.replicas",
    )
    last_known_leader: bool = setting(
        True,
        "with ISR and ELR empty the last leader may lead again, whatever it has lost (KIP-966)",
        "last.known.leader.election",
    )
    last_member_is_last_known_leader: bool = setting(
        False,
        "the last ISR member from before the ELR is the last known leader (finding 0011)",
        "last.member.is.last.known.leader",
    )
    assignment_keeps_elr: bool = setting(
        True,
        "a broker that reports a replica's log directory leaves the ELR as it is (finding 0003)",
        "assignment.keeps.elr",
    )
    min_isr_change_keeps_elr: bool = setting(
        False,
        "a change of min.insync.replicas empties the ELR only where the ISR is large enough "
        "(finding 0006)",
        "min.isr.change.keeps.elr",
    )
    elr_min_isr_read_by_all: bool = setting(
        False,
        "for the ELR a raised min.insync.replicas counts once every active broker has read of it "
        "(finding 0021)",
        "elr.min.isr.read.by.all",
    )
    min_isr_counts_own_replicas: bool = setting(
        False,
        "the controller's effective min.insync.replicas is by the partition's own replicas, not "
        "those of the topic's first partition (finding 0014)",
        "min.isr.counts.own.replicas",
    )
    clearing_updates_elr_index: bool = setting(
        False,
        "where the ELR is emptied at once, so is the index of it by broker (finding 0007)",
        "clearing.updates.elr.index",
    )
    elr_of_replicas_only: bool = setting(
        False,
        "whoever is no replica after a reassignment, or was none before, leaves the ELR "
        "(finding 0004)",
        "elr.of.replicas.only",
    )
    unregistration_leaves_elr: bool = setting(
        False,
        "a broker that is unregistered is in no ELR from then on (finding 0018)",
        "unregistration.leaves.elr",
    )
    reassignment_waits_for_all: bool = setting(
        True,
        "a reassignment ends when all replicas that stay are in sync, not only those that are "
        "added (KAFKA-19975)",
        "reassignment.waits.for.all",
    )
    replacing_sets_both_lists: bool = setting(
        False,
        "a reassignment that takes another's place sets who is added and who is removed, also to "
        "nobody (finding 0013)",
        "replacing.sets.both.lists",
    )
    registration_counts_directories: bool = setting(
        False,
        "a broker that registers without a log directory of before has stopped uncleanly "
        "(finding 0005)",
        "registration.counts.directories",
    )
    directory_failure_leaves_elr: bool = setting(
        False,
        "a broker whose log directory fails as it runs leaves the ELR, and joins no ISR "
        "(finding 0005)",
        "directory.failure.leaves.elr",
    )
    reset_leo_every_epoch: bool = setting(
        False,
        "a leader forgets its followers' LEOs at every new leader epoch (finding 0001)",
        "reset.follower.leo.every.epoch",
    )
    produce_matches_leader_epoch: bool = setting(
        False,
        "a producer is answered only in the leader epoch in which its record was appended "
        "(KAFKA-1148)",
        "produce.matches.leader.epoch",
    )
    truncation_matches_request_epoch: bool = setting(
        False,
        "a follower truncates only in the leader epoch in which it asked (finding 0009)",
        "truncation.matches.request.epoch",
    )
    isr_join_checks_replica: bool = setting(
        False,
        "a follower joins the ISR by what the leader knows of it now (finding 0008)",
        "isr.join.checks.replica",
    )
    isr_join_checks_log_start: bool = setting(
        False,
        "a follower joins the ISR once its log starts where the leader's does, or later "
        "(finding 0012)",
        "isr.join.checks.log.start",
    )
    fetch_noted_in_its_epoch: bool = setting(
        False,
        "a fetch is noted only in the leader epoch that it was checked in (finding 0008)",
        "fetch.noted.in.its.epoch",
    )
    log_start_read_first: bool = setting(
        False,
        "a leader reads where its log starts before its high watermark, not after (finding 0016)",
        "log.start.read.first",
    )
    refused_isr_change_moves_hw: bool = setting(
        False,
        "a leader whose ISR change was refused computes its HW anew (finding 0017)",
        "refused.isr.change.moves.hw",
    )
    isr_answer_apart: bool = setting(
        False,
        "a leader may hear of its ISR change before it reads the image that says so",
        "isr.answer.apart",
    )
    pending_isr_survives_image: bool = setting(
        False,
        "the image of a known partition epoch leaves a pending ISR change (finding 0002)",
        "pending.isr.survives.image",
    )
    fetch_answers: FetchAnswers = setting(
        FetchAnswers.AT_ONCE, "whether an answer to a fetch may be late", "fetch.answers"
    )
    truncation_begins_segment: bool = setting(
        False,
        "a log that is truncated goes on in a new segment: no place of a file is written twice "
        "(finding 0019)",
        "truncation.begins.segment",
    )
    fetch_sessions: bool = setting(
        False,
        "an answer leaves out what the leader's session counts as told (KIP-227)",
        "fetch.sessions",
    )
    session_repeats: bool = setting(
        False,
        "a session says again what came with a diverging epoch (finding 0015)",
        "session.repeats.diverging.answer",
    )
    epoch_cache: EpochCache = setting(
        EpochCache.LOG, "what brokers know of leader epochs, which they truncate by", "epoch.cache"
    )
    leader_enters_epoch: bool = setting(
        True,
        "a leader enters its epoch in the cache before it has a record of it (KAFKA-7415)",
        "leader.enters.epoch",
    )
    truncation_at_end_clears: bool = setting(
        True,
        "truncation to the log's end takes epochs without records out of the cache (KAFKA-10706)",
        "truncation.at.end.clears.epochs",
    )
    empty_answer_keeps_epoch: bool = setting(
        True,
        "an empty answer leaves the last fetched epoch as it is (KAFKA-15510)",
        "empty.answer.keeps.fetched.epoch",
    )
    epoch_file: EpochFile = setting(
        EpochFile.LATER,
        "when what goes from the epoch cache is out of its file (KAFKA-15046, KAFKA-16541)",
        "epoch.file",
    )
    log_file: LogFile = setting(
        LogFile.AT_ONCE,
        "when truncation of the log is on disk: by the file system's order, or its own sync",
        "log.file",
    )
    recovery_replaces_epochs: bool = setting(
        False,
        "a log that is recovered has the epochs of its records, whatever its file of epochs says",
        "recovery.replaces.epochs",
    )
    log_start_file: LogStartFile = setting(
        LogStartFile.AT_ONCE,
        "when a later log start is in its checkpoint file, or the records before it are gone",
        "log.start.file",
    )
    retention_stops_at_hw: bool = setting(
        True,
        "records beyond the high watermark are not deleted (KAFKA-5634)",
        "retention.stops.at.hw",
    )
    starting_anew_moves_hw: bool = setting(
        True,
        "a follower that starts anew at the leader's log start has its HW there (KAFKA-9491)",
        "starting.anew.moves.hw",
    )
    swapped_log_keeps_epochs: bool = setting(
        False,
        "a log's copy in another directory takes over the epoch cache (KAFKA-20961)",
        "swapped.log.keeps.epochs",
    )
    upgrade_to: UpgradeTo = setting(
        UpgradeTo.NONE, "the release that brokers are upgraded to one by one (--upgrades)",
        "upgrade.to",
    )  # fmt: skip
