"""Changes of a topic's settings (`ConfigurationControlManager`)."""

from __future__ import annotations

from model.kafka.bounds import MIN_ISR_CHANGES
from model.kafka.brokers_to_elrs import keep_in_index
from model.kafka.dynamic_config_publisher import note_change
from model.kafka.partition_change import change_partition, eligible_after
from model.kafka.state import TopicPartition
from model.language import action, any_of, is_none, not_, require, spend


@action(
    "an operator changes min.insync.replicas",
    at="ConfigurationControlManager.incrementalAlterConfigs",
    since="0.8.2.0",
    about="KIP-966, finding 0006, finding 0007",
    settings="min.insync.replicas.later, min.isr.change.keeps.elr, clearing.updates.elr.index",
)
def operator_change_min_isr(partition: TopicPartition) -> None:
    """Change it once, to what `min.insync.replicas.later` says, if that is another number.

    That empties the ELR and forgets the last known leader, whatever the ISR is (`ClearElrRecord`,
    finding 0006), but leaves the index of the ELR as it was (finding 0007); where there is either,
    it is a partition change. With the fix, the ELR stays where the ISR is below the new minimum:
    its members still hold every committed record.
    """
    controller, options = partition.controller, partition.options
    require(options.min_insync_replicas_later not in (0, options.min_insync_replicas))
    require(partition.exists)

    spend(partition, MIN_ISR_CHANGES)
    if options.min_isr_change_keeps_elr:
        eligible = eligible_after(partition, controller.isr)
        changes = eligible != controller.eligible
        note_change(partition, changes)
        change_partition(partition, controller.isr, eligible, changes)
    else:
        known = not_(is_none(controller.last_known_leader))
        changes = any_of(not_(controller.eligible.is_empty), known)
        note_change(partition, changes)
        keep_in_index(partition)
        change_partition(partition, controller.isr, partition.brokers.none(), changes)
        controller.last_known_leader = None
