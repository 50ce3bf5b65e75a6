"""What brokers and controllers keep doing: the fairness under which the broker model is live.

Threads that loop are fair: fetchers, the controller's event queue, the sender of AlterPartition
requests. Faults, operators and clients are not: nothing makes them act. A dead broker need not come
back, and no leader has to drop a follower. Each group is one action with one choice of brokers.
"""

from __future__ import annotations

from model.kafka import (
    abstract_fetcher_thread,
    alter_partition,
    controlled_shutdown,
    delayed_produce,
    dynamic_config_publisher,
    fetch_at_once,
    fetch_in_flight,
    leader_epoch_checkpoint,
    log_dir_failure,
    log_manager,
    log_read_info,
    partition,
    partition_reassignment,
    replica_fetcher,
    replica_manager,
    replication_control,
)
from model.language import Fairness, weak
from model.replicated_log import LOG_SIZE, MAX_LEADER_EPOCH, MAX_RECORDS

FETCHING = weak(
    fetch_at_once.follower_fetch_record,
    fetch_at_once.follower_fetch_high_watermark,
    partition.leader_handle_fetch,
    log_manager.follower_fetch_log_start,
    log_manager.follower_start_anew,
    fetch_in_flight.follower_send_fetch,
    fetch_in_flight.follower_receive_record,
    fetch_in_flight.follower_receive_high_watermark,
    fetch_in_flight.follower_receive_divergence,
    fetch_in_flight.follower_ignore_answer,
)
TRUNCATING = weak(
    replica_fetcher.follower_truncate,
    replica_fetcher.follower_truncate_without_epochs,
    replica_fetcher.follower_truncate_on_fetch,
    abstract_fetcher_thread.follower_finish_truncating,
)
STALLED_THREADS_GO_ON = weak(
    leader_epoch_checkpoint.broker_flush_epochs,
    delayed_produce.leader_answer_stalled_produce,
    delayed_produce.leader_answer_stalled_check,
    log_read_info.follower_take_stalled_record,
    log_read_info.follower_take_stalled_answer,
    log_read_info.follower_start_anew_after_stall,
    replica_manager.leader_finish_stalled_fetch,
    replica_manager.leader_expand_by_stalled_fetch,
)
ISR_GROWS = weak(alter_partition.leader_propose_expand)
ALTER_PARTITION = weak(
    replication_control.controller_apply_isr_change,
    replication_control.controller_reject_isr_change,
    replication_control.leader_hear_isr_refusal,
    alter_partition.leader_hear_isr_answer,
    alter_partition.leader_read_known_image,
    alter_partition.leader_resend_isr_change,
    partition_reassignment.controller_complete_reassignment,
)
METADATA = weak(
    partition.leader_apply_metadata,
    partition.follower_apply_metadata,
    dynamic_config_publisher.leader_read_min_isr,
)
ELECTIONS = weak(
    replication_control.controller_fence_broker,
    replication_control.controller_fence_leader,
    replication_control.controller_fence_last_leader,
    replication_control.controller_unfence_broker,
    replication_control.controller_unfence_and_elect,
    replication_control.controller_elect_last_known_leader,
    controlled_shutdown.broker_stop_as_asked,
    log_dir_failure.controller_hear_of_failure,
    log_dir_failure.controller_hear_of_leaders_failure,
    log_dir_failure.controller_hear_of_last_leaders_failure,
    log_dir_failure.controller_fence_and_elect,
)

FAIRNESS: tuple[Fairness, ...] = (
    FETCHING,
    TRUNCATING,
    STALLED_THREADS_GO_ON,
    ISR_GROWS,
    ALTER_PARTITION,
    METADATA,
    ELECTIONS,
)

CUT_BY = (LOG_SIZE, MAX_RECORDS, MAX_LEADER_EPOCH)
"""Partitions have more records and epochs than that; budgets of faults do run out."""
