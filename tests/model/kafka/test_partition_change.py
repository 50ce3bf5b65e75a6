"""A partition change is written whole: whoever changes ISR, ELR or leader, the rest follows."""

from __future__ import annotations

import pytest

from checker.core.verdict import Verdict
from model.kafka.protocol import KAFKA
from model.kafka.state import TopicPartition
from model.language import all_of, any_of, every, implies, not_, some
from properties import choose_properties
from properties.claims import always
from tests.support.kafka import FIX_36, SAFE, depths, explored_for, kafka_model


def has_changed(before: TopicPartition, after: TopicPartition) -> bool:
    """ISR, ELR or leader epoch is another."""
    old, new = before.controller, after.controller
    return any_of(
        old.isr != new.isr, old.eligible != new.eligible, old.leader_epoch != new.leader_epoch
    )


@always("a_change_is_news", "the leader has to read it, and requests are void", of_steps=True)
def a_change_is_news(before: TopicPartition, after: TopicPartition) -> bool:
    """Each change is a new partition epoch."""
    controller = after.controller
    return implies(
        has_changed(before, after),
        all_of(
            not_(controller.leader_is_current),
            implies(controller.image_unread, some(b.isr_accepted for b in after.brokers)),
            controller.request.is_empty,
            not_(controller.joiner_restarted),
        ),
    )


@always("no_news_without_a_change", "else a live leader knows what it knew", of_steps=True)
def no_news_without_a_change(before: TopicPartition, after: TopicPartition) -> bool:
    """A partition epoch is not used up for nothing."""
    return every(
        implies(
            all_of(
                before.controller.leader == leader,
                before.controller.leader_is_current,
                after.brokers[leader].up,
                not_(has_changed(before, after)),
            ),
            after.controller.leader_is_current,
        )
        for leader in before.brokers
    )


@always("an_unclean_stop_costs_the_place", "in ISR and ELR, once it is back", of_steps=True)
def an_unclean_stop_costs_the_place(before: TopicPartition, after: TopicPartition) -> bool:
    """KIP-966: it may have lost the end of its log."""
    controller = after.controller
    return every(
        implies(
            all_of(not_(broker.up), not_(broker.stopped_cleanly), after.brokers[broker].up),
            not_(controller.isr.union(controller.eligible).contains(broker)),
        )
        for broker in before.brokers
    )


STEPS = (a_change_is_news, no_news_without_a_change, an_unclean_stop_costs_the_place)
CONTROLLER = (
    "controller_in_order",
    "isr_is_live",
    "request_of_the_leader",
    "eligible_replicas_left",
)
APART = {"isr.answer.apart": "true", "pending.isr.survives.image": "true"}


@pytest.mark.parametrize(
    "bounds",
    [{"max_leader_epoch": 0}, {"max_leader_epoch": 1, "replicas": 2}],
    ids=["three replicas", "an election"],
)
def test_whatever_changes_the_partition_changes_it_whole(bounds):
    # Answers apart, a minimal ISR of 2 and two crashes: fencing, joining and losing one's place in
    # the ELR meet requests under way, and a leader that has yet to read an image that it knows.
    model = kafka_model("kafka-4.1", SAFE | FIX_36 | APART, crashes=2, **bounds)
    lemmas = choose_properties(KAFKA, CONTROLLER)
    result = explored_for([*STEPS, *lemmas], model)
    assert depths(result) == {}
    assert result.verdict is Verdict.EXHAUSTED
