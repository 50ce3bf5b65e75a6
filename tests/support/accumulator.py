"""The model's producer as a graph of states, in the words of `AccumulatorRun.java`."""

from __future__ import annotations

from functools import cache

from checker.core.engines.reference import ReferenceEngine
from model.kafka_producer.protocol import KAFKA_PRODUCER
from model.kafka_producer.record_accumulator import may_be_sent
from model.kafka_producer.state import Status
from tests.support.tiers import RELEASES, nightly

VERSIONS = ["4.3.1", *(nightly(RELEASES, v) for v in ("3.5.2", "3.7.2", "3.9.1", "4.1.0"))]
NEWEST = "kafka-4.3"


class Producer:
    """The model's producer: a graph of states, each step taken once."""

    def __init__(self, settings, **bounds):
        none = {
            "lost_connections": 0,
            "broker_errors": 0,
            "log_size": bounds.get("max_records", 3) + 1,
        }
        self.model = KAFKA_PRODUCER.model(
            none | bounds, dict(KAFKA_PRODUCER.presets[NEWEST]) | settings
        )
        self.options = self.model.settings
        self.engine = ReferenceEngine(self.model)
        self.start = tuple(self.engine.initial())
        self._after = {}

    def view(self, state):
        return self.engine.view(state)

    def steps(self, state):
        """[(step, next state)] of all that may be taken."""
        if state not in self._after:
            taken = [(one, self.engine.step(state, one)) for one in self.model.instances]
            self._after[state] = [(one, after) for one, after in taken if after is not None]
        return self._after[state]

    def step(self, state, action, *arguments):
        """The state after one step, or None where it may not be taken."""
        for one, after in self.steps(state):
            if one.action.name == action and one.arguments[: len(arguments)] == arguments:
                return after
        return None

    @cache  # noqa: B019 (of one test)
    def batch(self, state, number):
        """A batch as `AccumulatorRun.java` says it: records, and numbers once it was sent."""
        topic = self.view(state)
        batch = topic.batches[number]
        records = [r.number for r in topic.records if topic.is_in(r, batch)]
        told = "+".join(map(str, records))
        numbered = topic.idempotent and batch.was_sent
        return f"{told}@{batch.epoch}:{batch.sequence}" if numbered else told

    @cache  # noqa: B019 (of one test)
    def queue(self, state, partition=0):
        """The batches that wait for a partition, whatever their order."""
        return sorted(
            self.batch(state, batch.number)
            for batch in self.view(state).batches
            if batch.status == Status.QUEUED and batch.partition == partition
        )

    @cache  # noqa: B019 (of one test)
    def sendable(self, state):
        """The numbers of the batches that the queue lets go."""
        topic = self.view(state)
        return [batch.number for batch in topic.batches if may_be_sent(topic, batch)]

    def passed(self, state):
        """A batch was sent again after another that is in flight: Kafka looks at the time of those
        that were sent before it first, and leaves it; in the model the oldest may always expire.
        """
        return any(batch.ahead for batch in self.view(state).batches)

    def words(self, size_slack=0, lingers=0):
        """What a line begins with."""
        flags = [
            self.model.bounds["topic_partitions"], self.options.batch_size, size_slack,
            int(self.view(self.start).idempotent), self.options.max_in_flight, lingers,
        ]  # fmt: skip
        return " ".join(map(str, flags))
