"""The controller's index of eligible leader replicas by broker (`BrokersToElrs`).

It tells the controller which partitions a broker that registers after an unclean stop may be in the
ELR of. What it keeps of a topic that is gone makes the registration fail (finding 0007).
"""

from __future__ import annotations

from model.kafka import dynamic_config_publisher, unified_log
from model.kafka.bounds import TOPIC_DELETIONS
from model.kafka.partition import forget_leadership
from model.kafka.partition_change import registers_cleanly
from model.kafka.state import NO_RECORD, Broker, TopicPartition
from model.language import action, all_of, not_, require


def keep_in_index(partition: TopicPartition) -> None:
    """The ELR is about to be emptied behind the back of the index; with the fix it is not."""
    controller = partition.controller
    if not partition.options.clearing_updates_elr_index:
        controller.index_left_over = controller.index_left_over.union(controller.eligible)


def registration_fails(partition: TopicPartition, broker: Broker) -> bool:
    """The index names a topic that is gone, so that the broker cannot register."""
    controller = partition.controller
    return all_of(
        controller.topic_deleted,
        controller.index_left_over.contains(broker),
        not_(registers_cleanly(partition, broker)),
    )


@action(
    "an operator deletes the topic",
    at="ReplicationControlManager.deleteTopics",
    since="0.8.1",
    about="KIP-966, finding 0007",
)
def operator_delete_topic(partition: TopicPartition) -> None:
    """Forget all of the partition at once, on every disk too; nothing that was promised holds.

    Out of the index are taken those who are in the ELR now.
    """
    controller, nobody = partition.controller, partition.brokers.none()
    require(partition.exists, partition.bound(TOPIC_DELETIONS) > 0)

    controller.topic_deleted = True
    controller.index_left_over = controller.index_left_over.minus(controller.eligible)
    controller.adding = nobody
    controller.removing = nobody
    controller.leader = None
    controller.leader_epoch = 0
    controller.isr = nobody
    controller.eligible = nobody
    controller.last_known_leader = None
    controller.leader_is_current = False
    controller.request = nobody
    controller.joiner_restarted = False
    controller.image_unread = False
    controller.min_isr_changed_last = 0
    controller.offline = nobody
    partition.stalled.reset()
    partition.stalled_truncation.reset()
    partition.stalled_produce.reset()
    partition.stalled_read.reset()
    for broker in partition.brokers:
        unified_log.delete(partition, broker, where=True)
        broker.leader = None
        broker.leader_epoch = 0
        broker.truncating = False
        broker.gave_up = False
        broker.directory_lost = 0
        broker.directory_failed = False
        broker.directory_dropped = False
        broker.answer.reset()
        forget_leadership(partition, broker)
        dynamic_config_publisher.forget(partition, broker)
    for record in partition.records:
        record.acknowledged = False
        record.processed = 0
    for offset in partition.offsets:
        offset.exposed = NO_RECORD
    partition.consumer.position = 0
    partition.consumer.processed = 0
    partition.consumer.committed = 0


@action(
    "the registration of {broker} fails, and the active controller resigns",
    at="BrokersToElrs.partitionsWithBrokerInElr",
    since="4.0.0",
    about="KIP-966, finding 0007",
)
def controller_renounce(partition: TopicPartition, broker: Broker) -> None:
    """Look for a topic that is not there. The next controller has the same index, and does too."""
    require(not_(broker.up), registration_fails(partition, broker))
    require(not_(partition.controller.renounced))

    partition.controller.renounced = True
