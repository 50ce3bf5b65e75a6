"""What happens to brokers: they crash, lose power or a disk, stop, and come back.

The HW checkpoint is written every few seconds, so what it holds when a broker stops may be any
earlier HW: each way to stop chooses it. What a power loss takes is any part of the log's end, since
Kafka leaves flushing to the operating system. What takes the power of several machines, or of one
whose broker had crashed before, is in `power.py`.
"""

from __future__ import annotations

from model.kafka import (
    dynamic_config_publisher,
    fetch_session,
    log_segment,
    replica_alter_log_dirs,
    unified_log,
)
from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.abstract_fetcher_thread import forget_stalled_truncation
from model.kafka.alter_partition import is_lost_request_for
from model.kafka.bounds import CRASHES, DISK_LOSSES, POWER_LOSSES, SHUTDOWNS
from model.kafka.brokers_to_elrs import registration_fails
from model.kafka.choices import QuickBounce
from model.kafka.delayed_produce import forget_stalled_produce
from model.kafka.log_directories import assign_directory
from model.kafka.partition import follow, forget_leadership
from model.kafka.partition_change import lose_place_if_unclean, outdate_leader
from model.kafka.replica_manager import forget_stalled_fetch
from model.kafka.stalled_threads import void_stalled_read
from model.kafka.state import Broker, TopicPartition
from model.language import (
    action,
    all_of,
    any_of,
    choose,
    every,
    maximum,
    minimum,
    not_,
    require,
    some,
    spend,
)
from model.replicated_log import Offset


def forget_memory(
    partition: TopicPartition, broker: Broker, power_lost: bool, where: bool = True
) -> None:
    """Where the condition holds, the process is gone, and with it the broker's memory."""
    broker.up = choose(where, False, broker.up)
    broker.shutting_down = choose(where, False, broker.shutting_down)
    forget_replica(partition, broker, power_lost, where)


def forget_replica(
    partition: TopicPartition, broker: Broker, power_lost: bool, where: bool = True
) -> None:
    """Where the condition holds, what the broker had in memory of its replica is gone."""
    broker.leader = choose(where, None, broker.leader)
    broker.leader_epoch = choose(where, 0, broker.leader_epoch)
    broker.truncating = choose(where, False, broker.truncating)
    broker.gave_up = choose(where, False, broker.gave_up)
    forget_leadership(partition, broker, where)
    dynamic_config_publisher.forget(partition, broker, where)
    unified_log.reload_start(partition, broker, where)
    replica_alter_log_dirs.note_stop(partition, broker, where)
    if file_cache.is_kept(partition):
        file_cache.reload(partition, broker, power_lost, where)
    if partition.options.fetch_answers.travel:
        broker.answer.reset(where=where)


def stop(partition: TopicPartition, broker: Broker, power_lost: bool) -> None:
    """The process of one broker is gone."""
    stop_replica(partition, broker, power_lost)
    broker.up = False
    broker.shutting_down = False


def stop_replica(partition: TopicPartition, broker: Broker, power_lost: bool) -> None:
    """The replica of one broker leads and follows nobody any more."""
    outdate_leader(partition, where=partition.is_in_office(broker))
    fetch_session.end_all(partition, partition.brokers.only(broker))
    forget_replica(partition, broker, power_lost)
    if power_lost:
        log_segment.forget_at_power_loss(partition, broker)
    forget_stalled_fetch(partition, broker)
    forget_stalled_truncation(partition, broker)
    forget_stalled_produce(partition, broker)
    void_stalled_read(partition, broker)


def may_be_stopped(partition: TopicPartition, broker: Broker) -> bool:
    """An operator who restarts brokers in turn waits until all others are back in the ISR."""
    if not partition.options.shutdowns_in_turn:
        return True
    controller = partition.controller
    return every(
        any_of(
            other == broker,
            all_of(
                other.up,
                not_(other.shutting_down),
                not_(other.fenced),
                controller.isr.contains(other),
            ),
        )
        for other in partition.brokers
    )


def stop_cleanly(partition: TopicPartition, broker: Broker) -> None:
    """The broker writes its checkpoints and a clean-shutdown marker, and its process ends."""
    broker.stopped_cleanly = True
    log_segment.forget(partition, broker)
    unified_log.checkpoint_start(partition, broker)
    file_cache.finish_writing(partition, broker)
    stop(partition, broker, power_lost=False)


@action(
    "{broker} crashes; its high watermark checkpoint is {checkpoint}",
    at="ReplicaManager.checkpointHighWatermarks",
    since="0.8.0",
)
def broker_crash(partition: TopicPartition, broker: Broker, checkpoint: Offset) -> None:
    """The process dies; the log survives in the page cache."""
    require(broker.up, checkpoint <= broker.high_watermark)

    spend(partition, CRASHES)
    broker.high_watermark = maximum(checkpoint, unified_log.start_on_disk(partition, broker))
    stop(partition, broker, power_lost=False)


@action(
    "{broker} stops cleanly",
    at="LogManager.shutdown",
    since="0.8.0",
    settings="shutdowns.in.turn",
)
def broker_shut_down(partition: TopicPartition, broker: Broker) -> None:
    """The broker stops without having been let go (`controlled_shutdown.py`)."""
    require(broker.up, may_be_stopped(partition, broker))

    spend(partition, SHUTDOWNS)
    stop_cleanly(partition, broker)


def is_left_by_power_loss(partition: TopicPartition, broker: Broker, kept: int) -> bool:
    """The log may end at `kept` when the power is back: not what `log.flush...` has made safe."""
    if partition.options.log_flush_interval_messages == 1:
        return kept == broker.log.end
    return all_of(unified_log.start_on_disk(partition, broker) <= kept, kept <= broker.log.end)


@action(
    "{broker} loses power; {kept} records and the high watermark checkpoint {checkpoint} are left",
    at="UnifiedLog.append",
    since="0.8.0",
    settings="log.flush.interval.messages",
)
def broker_lose_power(
    partition: TopicPartition, broker: Broker, kept: Offset, checkpoint: Offset
) -> None:
    """The machine stops: any unflushed end of the log is gone."""
    require(broker.up, is_left_by_power_loss(partition, broker, kept))
    require(checkpoint <= minimum(broker.high_watermark, kept))

    spend(partition, POWER_LOSSES)
    broker.high_watermark = maximum(checkpoint, unified_log.start_on_disk(partition, broker))
    broker.log.truncate_to(kept)
    stop(partition, broker, power_lost=True)


@action(
    "{broker} loses its disk",
    at="LogManager.loadLogs",
    since="0.8.0",
    about="KIP-903",
)
def broker_lose_disk(partition: TopicPartition, broker: Broker) -> None:
    """The broker stops, and comes back with an empty log."""
    require(broker.up)

    spend(partition, DISK_LOSSES)
    broker.truncate_to(0)
    replica_alter_log_dirs.forget(broker)
    stop(partition, broker, power_lost=True)


@action(
    "{broker} restarts",
    at="ClusterControlManager.registerBroker",
    since="0.8.0",
    about="KAFKA-7235, KIP-966, finding 0005, finding 0011",
    settings=(
        "quick.bounce, eligible.leader.replicas, registration.counts.directories, "
        "last.member.is.last.known.leader"
    ),
)
def broker_restart(partition: TopicPartition, broker: Broker) -> None:
    """Register with a new broker epoch, load the log and the HW checkpoint, and read who leads.

    Registration waits until the old incarnation is fenced, but for a quick bounce. After an unclean
    stop it costs the place in ISR and ELR (KIP-966). A starting broker does nothing before it has
    read metadata, so that is one step. A replica that is made anew is in a directory that the
    controller hears of then: until it has, it would not elect the broker.
    """
    controller, options = partition.controller, partition.options
    joins = any_of(controller.request.contains(broker), is_lost_request_for(partition, broker))
    restarted = controller.joiner_restarted
    require(not_(broker.up), not_(broker.directory_failed))
    if options.eligible_leader_replicas:
        require(not_(registration_fails(partition, broker)))
    if options.quick_bounce == QuickBounce.REFUSED:
        require(broker.fenced)
    if options.quick_bounce == QuickBounce.FOLLOWERS:
        require(any_of(broker.fenced, controller.leader != broker))

    broker.up = True
    if options.eligible_leader_replicas:
        joins = all_of(joins, not_(lose_place_if_unclean(partition, broker)))
    made_anew = any_of(broker.directory_lost > 0, broker.directory_dropped)
    assign_directory(partition, where=all_of(made_anew, partition.has_replica(broker)))
    broker.directory_lost = 0
    broker.directory_dropped = False
    broker.assigned_elsewhere = False
    controller.offline = controller.offline.without_member(broker)
    asked = not_(controller.request.is_empty)
    asked = any_of(asked, some(is_lost_request_for(partition, b) for b in partition.brokers))
    controller.joiner_restarted = any_of(all_of(restarted, asked), joins)
    broker.stopped_cleanly = False
    broker.unregistered = False
    leads = controller.leader == broker
    follow(partition, broker)
    broker.leader = choose(leads, None, broker.leader)
    broker.leader_epoch = choose(leads, 0, broker.leader_epoch)
