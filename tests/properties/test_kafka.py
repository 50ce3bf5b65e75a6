"""Every property of the broker model: what breaks it does, and its witnesses are reached."""

from __future__ import annotations

import pytest

from checker.core.traces.trace import build_trace
from checker.core.verdict import Verdict
from model.kafka.partition_change import change_partition
from model.kafka.protocol import KAFKA
from model.kafka.replication_control import may_unfence
from model.kafka.state import Broker, TopicPartition
from model.language import action, choose, maximum, minimum, not_, require
from model.replicated_log import Offset
from properties import Sense, choose_properties, properties_of
from tests.support.kafka import FIX_36, SAFE, explored_for, kafka_model
from tests.support.laws import explore
from tests.support.tiers import slow_but

# --- mutants: protocols with one mistake ---------------------------------------------------------


@action("controller elects {broker}, and forgets the epoch")
def controller_elect_preferred_leader(partition: TopicPartition, broker: Broker) -> None:
    """Elect without a new epoch."""
    state, spent = partition.controller, partition.spent.preferred_elections
    require(spent < partition.bound("preferred_elections"))
    require(state.isr.contains(broker), state.leader != broker)

    partition.spent.preferred_elections = spent + 1
    state.leader = broker
    change_partition(partition, state.isr, state.eligible)


@action("{follower} truncates and leaves its HW")
def follower_truncate_on_fetch(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """Truncate to nothing without looking at the HW."""
    require(follower.follows(leader), follower.log.end > 0)

    follower.log.truncate_to(0)


@action("{leader} takes the least LEO for its HW")
def leader_handle_fetch(partition: TopicPartition, leader: Broker, follower: Broker) -> None:
    """Set the HW to a follower's LEO, up or down."""
    require(follower.follows(leader), leader.leads)

    leader.high_watermark = minimum(leader.log.end, follower.log.end)


@action("{broker} takes old metadata")
def follower_apply_metadata(partition: TopicPartition, broker: Broker) -> None:
    """Go back to epoch 0."""
    require(broker.up, not_(broker.leads))

    broker.leader_epoch = 0


@action("controller fences {broker}, which goes on leading")
def controller_fence_last_leader(partition: TopicPartition, broker: Broker) -> None:
    """Fence a leader alone in the ISR, and do nothing else."""
    require(partition.controller.isr.size == 1, partition.controller.leader == broker)
    require(not_(broker.up), not_(broker.fenced))

    broker.fenced = True


@action("controller unfences {broker}, and forgets to elect")
def controller_unfence_broker(partition: TopicPartition, broker: Broker) -> None:
    """Unfence whoever it is, with no election."""
    require(may_unfence(broker))

    broker.fenced = False


@action("controller unfences {broker}, dead or alive")
def controller_unfence_and_elect(partition: TopicPartition, broker: Broker) -> None:
    """Unfence a broker that sends no heartbeats."""
    require(broker.fenced)

    broker.fenced = False


@action("{broker} loses power; {kept} entries are left, as many as there were or not")
def broker_lose_power(partition: TopicPartition, broker: Broker, kept: Offset) -> None:
    """Leave any number of entries."""
    require(broker.up)

    broker.log.truncate_to(kept)


@action("the consumer processes its second record first")
def consumer_process(partition: TopicPartition) -> None:
    """Process offset 1 before offset 0."""
    consumer = partition.consumer
    require(consumer.position == 2, consumer.processed < 2)

    for record in partition.records:
        place = 1 - consumer.processed
        here = partition.offsets[place].exposed == record.number
        record.processed = choose(here, maximum(record.processed, 1), record.processed)
    consumer.processed = consumer.processed + 1


@action("the consumer polls {broker}, ahead of processing")
def consumer_poll(partition: TopicPartition, broker: Broker) -> None:
    """Poll on without having processed."""
    consumer = partition.consumer
    require(partition.bound("consumers") > 0, broker.leads)
    require(consumer.position < broker.high_watermark)

    consumer.position = consumer.position + 1


@action("{follower} starts anew at the end of {leader}")
def follower_start_anew(partition: TopicPartition, follower: Broker, leader: Broker) -> None:
    """Start anew where the leader's log ends, and not where it starts."""
    require(follower.follows(leader), leader.leads, follower.log.end < leader.log.end)

    end = leader.log.end
    follower.log.truncate_to(end)
    follower.log_start = end
    follower.high_watermark = end


SETTINGS = {**KAFKA.preset("kafka-4.1"), **SAFE, **FIX_36}
QUIET = {"crashes": 0, "preferred_elections": 0, "max_leader_epoch": 2}


def mutant(*replacements, settings=None, **bounds):
    protocol = KAFKA.variant("kafka", "the broker model with a mistake", *replacements)
    return protocol.model(QUIET | bounds, SETTINGS | (settings or {}))


def preset(name="kafka-4.1", settings=None, **bounds):
    return kafka_model(name, SAFE | FIX_36 | (settings or {}), **bounds)


DIVERGING_HW = {"diverging.answer.hw.ignored": "false", "follower.reads": "true"}
UNCLEAN = {"unclean.leader.election.enable": "true"}
COMMITS_FIRST = {"consumer.commits": "before_processing"}
BURST = {"followers.keep.up": "true", "replica.lag.max.messages": "1"}
CONSUMER = {"consumers": 1, "consumer_restarts": 1, "max_leader_epoch": 0}
NO_ELR = {"eligible.leader.replicas": "false"}
KEPT = {"epoch.cache": "kept"}
UNFENCED = {"isr.unfenced.brokers.only": "false"}

BREAKS = {
    "exposed_records_survive": preset(settings={"maximal.isr": "false"}, preferred_elections=1),
    "acknowledged_records_survive": preset(settings={"acks": "1"}, crashes=1),
    "acknowledged_record_on_some_disk": preset(settings={"acks": "1"}, power_losses=1),
    "logs_agree_below_high_watermark": preset(
        settings=UNCLEAN | {"min.insync.replicas": "1"},
        crashes=1, max_records=2, unclean_elections=1,
    ),
    "isr_logs_agree": preset(
        settings={"reset.follower.leo.every.epoch": "false"}, preferred_elections=2
    ),
    "consumers_agree": preset(settings=DIVERGING_HW, preferred_elections=1, max_records=2),
    "consumer_reads_only_committed": preset(
        settings=DIVERGING_HW, preferred_elections=1, max_records=2
    ),
    "one_leader_per_epoch": mutant(controller_elect_preferred_leader, preferred_elections=1),
    "log_starts_within_high_watermarks": preset(
        settings=KEPT | {"starting.anew.moves.hw": "false"}, record_deletions=1
    ),
    "only_what_was_deleted_is_missing": mutant(
        follower_start_anew, settings=KEPT, record_deletions=1
    ),
    "high_watermark_within_log": mutant(follower_truncate_on_fetch),
    "logs_hold_issued_records": mutant(broker_lose_power),
    "leader_high_watermark_grows": mutant(leader_handle_fetch),
    "epochs_grow": mutant(follower_apply_metadata, preferred_elections=1, crashes=1),
    "isr_members_unfenced": preset(settings=UNFENCED, crashes=1),
    "only_live_brokers_are_unfenced": mutant(controller_unfence_and_elect, crashes=1),
    "in_sync_replica_is_live_or_no_leader": mutant(controller_fence_last_leader, crashes=1),
    "partition_has_leader_when_a_candidate_lives": mutant(
        controller_unfence_broker, settings=NO_ELR, crashes=1, replicas=1
    ),
    "caught_up_follower_stays_in_sync": preset(settings=BURST, log_size=2, max_records=2),
    "no_record_skipped": preset(settings=COMMITS_FIRST, **CONSUMER),
    "no_record_delivered_twice": preset(**CONSUMER),
    "order_kept": mutant(consumer_process, consumer_poll, consumers=1, log_size=2, max_records=2),
    "partition_has_leader": preset("kafka-3.5", crashes=1),
    "reassignments_can_end": preset(
        "kafka-4.3", settings={"replication.factor": "2", "min.insync.replicas": "2"},
        replica_moves=1, reassignment_replacements=1,
    ),
    "live_replicas_have_a_leader": preset(
        settings={"min.insync.replicas": "2", "min.insync.replicas.later": "1"},
        replicas=2, shutdowns=2, min_isr_changes=1,
    ),
    "followers_are_told_where_to_truncate": preset(
        settings={"epoch.cache": "kept"}, replicas=2, preferred_elections=1,
        directory_moves=1,
    ),
    "leader_takes_writes": preset(settings={"min.insync.replicas": "3"}, crashes=1),
    "leader_exposes_what_the_isr_holds": preset(false_fencings=1),
    "followers_go_on_fetching": preset(
        "kafka-4.3", settings={"epoch.cache": "kept", "min.insync.replicas": "2"},
        record_deletions=1, stalled_reads=1,
    ),
    "directory_moves_go_on": preset(
        settings={"log.dir.fetcher.begins.at.its.hw": "false"}, replicas=2,
        preferred_elections=1, directory_moves=1,
    ),
    "brokers_can_register": preset(
        settings={"min.insync.replicas": "2", "min.insync.replicas.later": "1"},
        crashes=1, min_isr_changes=1, topic_deletions=1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", slow_but(list(BREAKS)[::6], BREAKS))
def test_a_property_is_broken_by_what_should_break_it(name):
    model = BREAKS[name]
    (prop,) = choose_properties(model.protocol, [name])
    result = explore(model, [prop])
    assert result.verdict is Verdict.VIOLATED
    assert not result.is_vacuous(prop)
    trace = build_trace(model, result.violations[0].steps, prop)
    assert trace.explanation != ""


def test_every_property_has_something_that_breaks_it():
    claims = {prop.name for prop in properties_of(KAFKA) if prop.sense is Sense.ALWAYS}
    assert claims == set(BREAKS)


@pytest.mark.slow
def test_every_witness_is_reached_and_no_premise_is_idle():
    model = kafka_model(
        "kafka-4.1", SAFE | FIX_36, crashes=1, preferred_elections=1, max_leader_epoch=2
    )
    result = explored_for(properties_of(KAFKA), model)
    for prop in properties_of(KAFKA):
        if prop.sense is Sense.SOMETIMES:
            assert result.verdict_on(prop) is Verdict.REACHED, prop.name
    idle = {prop.name for prop in properties_of(KAFKA) if result.is_vacuous(prop)}
    assert idle == {
        "partition_has_leader_when_a_candidate_lives",  # needs two brokers out
        "no_record_skipped",  # need a consumer
        "no_record_delivered_twice",
        "log_starts_within_high_watermarks",  # need a deletion
        "only_what_was_deleted_is_missing",
        "reassignments_can_end",  # needs a reassignment
    }
