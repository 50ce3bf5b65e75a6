"""What a producer does after a record that is refused or given up, and what a refusal leaves."""

from __future__ import annotations

import pytest

from checker.core.engines.reference import ReferenceEngine
from model.kafka_transactions.protocol import KAFKA_TRANSACTIONS
from model.kafka_transactions.state import PREPARE_ABORT, PREPARE_COMMIT, Kind, Phase, Sent

SENT = ("producer_send {0}", "add 0 {0}", "log_commit", "add 0 {0}")
VERIFIED = (*SENT, "verify 0 {0}")
WRITTEN = (*VERIFIED, "partition_get_record {0}")
SHORT = {"add": "coordinator_add_partition", "verify": "coordinator_verify"}


class Run:
    """Steps that are taken one by one, each by the name of its action and its arguments."""

    def __init__(self, bounds, **settings):
        self.model = KAFKA_TRANSACTIONS.model(
            {"transactions": 1, **bounds},
            {name.replace("_", "."): value for name, value in settings.items()},
        )
        self.engine = ReferenceEngine(self.model)
        self.state = self.engine.initial()

    def after(self, step):
        """The state after the step; `None` if it cannot be taken."""
        name, *arguments = step.split()
        name, numbers = SHORT.get(name, name), tuple(map(int, arguments))
        (instance,) = (
            each
            for each in self.model.instances
            if each.action.name == name and each.arguments == numbers
        )
        return self.engine.step(self.state, instance)

    def take(self, *steps):
        """Take them, and view what comes out."""
        for step in steps:
            self.state = self.after(step)
            assert self.state is not None, step
        return self.engine.view(self.state)


def of(steps, partition):
    return tuple(step.format(partition) for step in steps)


def refused(**settings):
    """A producer whose record was verified, and refused after the marker of a time-out."""
    run = Run({"topic_partitions": 1, "transaction_timeouts": 1}, **settings)
    run.take(*of(VERIFIED, 0), "coordinator_time_out 0", "log_commit")
    return run.take("partition_get_marker 0 0").producer


@pytest.mark.parametrize(
    ("after", "asks"), [("new_epoch", True), ("stops", False), ("same_epoch", False)]
)
def test_after_a_refused_record_a_producer_asks_for_an_epoch_since_kip_360(after, asks):
    producer = refused(transaction_version="0", after_a_failed_record=after)
    assert (producer.phase, producer.unresolved) == (Phase.MUST_ABORT, asks)


def test_none_is_given_up_while_a_partition_is_added():
    run = Run({"topic_partitions": 2, "late_produces": 1}, transaction_version="0")
    run.take(*of(SENT, 0))
    assert run.after("producer_give_up 0") is not None
    run.take("producer_send 1")
    assert run.after("producer_give_up 0") is None


def test_who_can_only_abort_sends_no_record_whose_partition_is_added():
    """A late marker has the record of another partition refused meanwhile."""
    bounds = {"topic_partitions": 2, "transactions": 2, "late_markers": 1}
    run = Run(bounds, transaction_version="0")
    run.take(*of(WRITTEN, 0), "producer_commit", "coordinator_end 0", "log_commit")
    run.take("partition_get_marker_and_again 0 0", "coordinator_complete 0", "log_commit")
    run.take(*of(VERIFIED, 0), "producer_send 1", "partition_get_late_marker 0")
    added = run.take("add 0 1", "log_commit", "add 0 1")
    assert added.producer.phase == Phase.MUST_ABORT
    assert added.coordinators[0].partitions.contains(added.partitions[1])
    assert added.partitions[1].record == Sent.NONE
    ended = run.take("producer_abort", "coordinator_end 0", "log_commit")
    assert ended.producer.request == Kind.BUMP


def test_an_open_transaction_is_aborted_before_an_old_epoch_is_refused():
    """A failed load has it open again, and a failed fence has taken the epoch."""
    faults = ("coordinator_failovers", "load_failures", "failed_appends", "late_produces")
    run = Run({"topic_partitions": 1, **dict.fromkeys(faults, 1)}, transaction_version="0")
    run.take(*of(SENT, 0), "producer_give_up 0", "producer_abort", "coordinator_end 0")
    ended = run.take("log_commit")
    assert ended.producer.request == Kind.BUMP
    run.take(
        f"coordinator_fail_over {ended.log.end}", f"coordinator_read_part 1 {ended.log.end - 1}"
    )
    run.take("coordinator_fail_to_load 1", "coordinator_fail_to_fence 1")
    aborted = run.take("coordinator_init 1")
    assert aborted.log[aborted.log.end - 1].state == PREPARE_ABORT
    assert aborted.producer.request == Kind.BUMP


def test_markers_that_are_under_way_when_one_is_refused_are_late():
    run = Run({"topic_partitions": 2, "coordinator_failovers": 1}, transaction_version="0")
    run.take(*of(WRITTEN, 0), *of(WRITTEN, 1), "producer_commit", "coordinator_end 0")
    decided = run.take("log_commit")
    run.take(f"coordinator_fail_over {decided.log.end}", "coordinator_load 1")
    late = run.take("partition_get_marker 1 0").partitions[1].late_marker
    assert late.kind == 0
    late = run.take("partition_get_marker 0 0").partitions[1].late_marker
    assert (late.kind, late.epoch, late.coordinator_epoch) == (PREPARE_COMMIT, 0, 0)
