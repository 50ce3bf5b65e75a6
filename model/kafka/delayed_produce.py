"""A produce request whose thread stalls before it waits, or as it looks whether it has to.

The thread appends under the partition's lock, lets go of it, and then waits for the high watermark
by offset (`ReplicaManager.appendRecords`, `DelayedProduce`). To see whether it has to, it takes no
lock: it asks for the log, if its broker leads, counts the ISR, and reads the HW of that log
(`Partition.checkEnoughReplicasReachOffset`). In `clients.py` all that is one step. Here metadata
may be read between the parts: the broker may follow, truncate, and lead again. One thread stalls at
a time.

A check comes at once, and again whenever the HW has moved; it is the first that stalls. What it has
counted is as large as it has to be, since the append has asked the same, and it may last as long as
any later one.
"""

from __future__ import annotations

from model.acks import Acks
from model.kafka.bounds import STALLED_CHECKS, STALLED_PRODUCES
from model.kafka.clients import append_next_record, require_room
from model.kafka.fault import Fault
from model.kafka.partition import maximal_isr
from model.kafka.state import Broker, TopicPartition
from model.language import action, is_none, not_, require, spend, spent


def _append_and_stall(partition: TopicPartition, leader: Broker, stall: Fault) -> None:
    """Append a record with acks=all, and hold what will be waited for."""
    stalled = partition.stalled_produce
    record, offset = partition.next_record, leader.log.end
    require(partition.options.acks == Acks.ALL)
    require(is_none(stalled.leader))
    require_room(partition, leader)

    spend(partition, stall)
    stalled.leader = leader
    stalled.record = record
    stalled.offset = offset
    append_next_record(partition, leader)


def _answer(partition: TopicPartition) -> None:
    """Tell the producer of success, for the record that was appended.

    Which record is at the offset, and in which leader epoch it was appended, is not compared.
    """
    stalled = partition.stalled_produce
    partition.records[stalled.record].acknowledged = True
    stalled.reset()


@action(
    "the producer sends its next record; the thread of {leader} stalls before it waits",
    at="ReplicaManager.appendRecords",
    since="0.8.0",
    about="KAFKA-1148",
    settings="acks, min.insync.replicas",
)
def leader_stall_before_waiting(partition: TopicPartition, leader: Broker) -> None:
    """Append a record, and look at nothing yet."""
    _append_and_stall(partition, leader, STALLED_PRODUCES)


@action(
    "the stalled thread of {leader} resumes and acknowledges the record",
    at="Partition.checkEnoughReplicasReachOffset",
    since="0.8.0",
    about="KAFKA-1148",
)
def leader_answer_stalled_produce(partition: TopicPartition, leader: Broker) -> None:
    """Answer by the offset alone (KAFKA-1148). Until that is success, the thread stalls on."""
    stalled = partition.stalled_produce
    require(spent(partition, STALLED_PRODUCES) > 0)
    require(stalled.leader == leader, not_(stalled.checking), leader.leads)
    require(leader.high_watermark > stalled.offset)
    require(maximal_isr(partition, leader).size >= partition.min_isr_of(leader))

    _answer(partition)


@action(
    "the producer sends its next record; the thread of {leader} stalls inside the check",
    at="Partition.checkEnoughReplicasReachOffset",
    since="0.8.0",
    about="KAFKA-1148",
    settings="acks, min.insync.replicas",
)
def leader_stall_in_check(partition: TopicPartition, leader: Broker) -> None:
    """Append a record, take the log, for the broker leads, and count the ISR, which is enough."""
    _append_and_stall(partition, leader, STALLED_CHECKS)
    partition.stalled_produce.checking = True


@action(
    "the stalled thread of {leader} resumes its check and acknowledges the record",
    at="Partition.checkEnoughReplicasReachOffset",
    since="0.8.0",
    about="KAFKA-1148",
)
def leader_answer_stalled_check(partition: TopicPartition, leader: Broker) -> None:
    """Read the HW of the log, whoever leads by now; below the record, it is as if there were none.

    With the fix of KAFKA-1148, the leader epoch is compared after that, or under the lock: where it
    is compared before, nothing is won.
    """
    stalled = partition.stalled_produce
    require(spent(partition, STALLED_CHECKS) > 0)
    require(stalled.leader == leader, stalled.checking)
    require(leader.high_watermark > stalled.offset)

    _answer(partition)


def forget_stalled_produce(partition: TopicPartition, broker: Broker) -> None:
    """The broker's process is gone, and its threads with it."""
    stalled = partition.stalled_produce
    stalled.reset(where=stalled.leader == broker)
