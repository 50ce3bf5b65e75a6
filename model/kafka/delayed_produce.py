"""A produce request whose thread stalls before it waits (`ReplicaManager.appendRecords`).

The thread appends under the partition's lock, lets go of it, and then waits for the high watermark
by offset (`DelayedProduce`). In `clients.py` that is one step. Here metadata may be read between
the parts: the broker may follow, truncate, and lead again. One thread stalls at a time.
"""

from __future__ import annotations

from model.acks import Acks
from model.kafka.clients import append_next_record, require_room
from model.kafka.partition import maximal_isr
from model.kafka.state import Broker, TopicPartition
from model.language import action, is_none, require


@action("the producer's next record is appended by {leader}; the thread stalls before it waits")
def leader_stall_before_waiting(partition: TopicPartition, leader: Broker) -> None:
    """Append a record with acks=all, and hold what will be waited for."""
    stalled = partition.stalled_produce
    record, offset = partition.next_record, leader.log.end
    require(partition.options.acks == Acks.ALL)
    require(partition.spent.stalled_produces < partition.bound("stalled_produces"))
    require(is_none(stalled.leader))
    require_room(partition, leader)

    partition.spent.stalled_produces = partition.spent.stalled_produces + 1
    stalled.leader = leader
    stalled.record = record
    stalled.offset = offset
    append_next_record(partition, leader)


@action("the thread of {leader} goes on, and tells the producer of success")
def leader_answer_stalled_produce(partition: TopicPartition, leader: Broker) -> None:
    """Answer by the offset alone (KAFKA-1148). Until that would be success, the thread stalls on.

    Which record is there, and in which leader epoch it was appended, is not compared
    (`Partition.checkEnoughReplicasReachOffset`).
    """
    stalled = partition.stalled_produce
    require(partition.spent.stalled_produces > 0)
    require(stalled.leader == leader, leader.leads)
    require(leader.high_watermark > stalled.offset)
    require(maximal_isr(partition, leader).size >= partition.min_isr_of(leader))

    partition.records[stalled.record].acknowledged = True
    stalled.reset()


def forget_stalled_produce(partition: TopicPartition, broker: Broker) -> None:
    """The broker's process is gone, and its threads with it."""
    stalled = partition.stalled_produce
    stalled.reset(where=stalled.leader == broker)
