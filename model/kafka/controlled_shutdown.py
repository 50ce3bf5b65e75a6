"""Brokers that ask before they stop (`BrokerLifecycleManager`, `BrokerHeartbeatManager`).

A broker's heartbeat says that it wants to shut down. The controller takes it out of the ISR and has
another lead; until it is let go the broker lives, fetches, and may still believe that it leads. One
that is in controlled shutdown and one that is fenced are the same here: neither leads nor joins the
ISR (`ClusterControlManager.isActive`, `ReplicationControlManager.ineligibleReplicasForIsr`), and
this one does not come back before it has stopped. A broker that is not answered stops after five
minutes as it is: `broker_shut_down`. That is KRaft; what was done with ZooKeeper is not here.
"""

from __future__ import annotations

from model.kafka.bounds import CONTROLLED_SHUTDOWNS
from model.kafka.faults import may_be_stopped, stop_cleanly
from model.kafka.partition_change import (
    keep_leader_in_new_epoch,
    may_change_leader,
    shrink_starts_epoch,
)
from model.kafka.state import Broker, TopicPartition
from model.language import action, any_of, not_, require, spend


@action(
    "{broker} requests a controlled shutdown",
    at="BrokerHeartbeatManager.calculateNextBrokerState",
    since="2.8.0",
    about="KAFKA-13916",
    settings="shutdowns.in.turn",
)
def broker_ask_to_stop(partition: TopicPartition, broker: Broker) -> None:
    """The next heartbeats want a shutdown; the controller fences the broker, and it may stop."""
    require(not partition.options.with_zookeeper)
    require(broker.up, not_(broker.shutting_down), may_be_stopped(partition, broker))

    spend(partition, CONTROLLED_SHUTDOWNS)
    broker.shutting_down = True


@action(
    "{broker} completes its controlled shutdown",
    at="BrokerLifecycleManager.beginShutdown",
    since="2.8.0",
)
def broker_stop_as_asked(partition: TopicPartition, broker: Broker) -> None:
    """The controller has taken it out of the ISR, and has another lead if one may.

    Letting it go takes it out once more. Where shrinks start epochs, trying that of the last member
    starts one, though it stays.
    """
    without = partition.controller.isr.without_member(broker)
    anew = shrink_starts_epoch(partition, without)
    require(broker.up, broker.shutting_down, broker.fenced)
    require(any_of(not_(anew), may_change_leader(partition)))

    keep_leader_in_new_epoch(partition, where=anew)
    stop_cleanly(partition, broker)
