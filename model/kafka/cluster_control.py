"""Brokers that an operator unregisters (`kafka-cluster.sh unregister`, `ClusterControlManager`).

Meant for brokers that are gone for good, but nothing asks whether this one is: it may be up, lead,
or have replicas. The controller takes it out as if it fenced it
(`ReplicationControlManager.handleBrokerUnregistered`): it leaves the ISR, and enters the ELR or
stays there, though a comment says that it leaves that too (finding 0018); only an ELR that would
not be there since replicas became fewer is emptied. A leader that is left in the index of the ELR
begins two leader epochs as it leaves. Then the controller forgets the broker. So a later
registration of its number is one after an unclean stop, whatever the broker knows of its own: there
is no broker epoch to compare with.
"""

from __future__ import annotations

from model.kafka.bounds import UNREGISTRATIONS
from model.kafka.partition_change import change_partition, changes_elr, eligible_without
from model.kafka.state import Broker, TopicPartition
from model.language import action, all_of, not_, require, spend


@action(
    "an operator unregisters {broker}",
    at="ReplicationControlManager.handleBrokerUnregistered",
    since="2.8.0",
    about="KIP-500, finding 0018",
    settings="unregistration.leaves.elr",
)
def operator_unregister_broker(partition: TopicPartition, broker: Broker) -> None:
    """Ask that the controller forgets a broker, up or down; it does so as it fences it."""
    require(not partition.options.with_zookeeper)
    require(not_(broker.unregistered), partition.exists)

    spend(partition, UNREGISTRATIONS)
    broker.unregistered = True
    isr = partition.controller.isr
    eligible = eligible_without(partition, broker, isr)
    changes = all_of(broker.fenced, changes_elr(partition, broker, eligible))
    change_partition(partition, isr, eligible, where=changes)
