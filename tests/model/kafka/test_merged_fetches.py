"""What a fetch with two records, and one that waits in a socket, would add: nothing that loses.

Each state with such a step has one without, which is the same but for what the leader knows of its
followers, and what comes of that: there it knows as much or more, and high watermarks, exposed
and acknowledged records are as many or more. So whatever such a step breaks of what is promised
for those is broken without it.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import compress

import pytest

from model.kafka.protocol import KAFKA
from model.language.protocol import Model, Protocol
from tests.support.kafka import SAFE, reachable
from tests.support.kafka_variants import BATCHES, REQUESTS
from tests.support.tiers import nightly

KNOWN = ("follower_leo", "high_watermark", "acknowledged", "exposed")
PAIR = {"replicas": 2, "log_size": 2, "max_records": 2}
ELECTIONS = PAIR | {"preferred_elections": 2, "max_leader_epoch": 2}
CRASH = PAIR | {"preferred_elections": 1, "max_leader_epoch": 2, "crashes": 1}
RELEASES = "releases before and after epochs were compared are searched on every change"
ALIKE = [("kafka-4.3", ELECTIONS), ("kafka-4.3", CRASH), ("kafka-2.8.1", ELECTIONS)]
THREE = {"replicas": 3, "preferred_elections": 1, "max_leader_epoch": 1}


def model_of(protocol: Protocol, preset: str, bounds: dict[str, int]) -> Model:
    """The preset with answers at once; budgets are 0 unless given."""
    sizes = {"crashes": 0, "preferred_elections": 0} | bounds
    settings = {**KAFKA.preset(preset), **SAFE, "fetch.answers": "at_once"}
    return protocol.model(sizes, settings)


def beyond(protocol: Protocol, preset: str, bounds: dict[str, int]) -> tuple[int, int]:
    """How many states the step adds, and how many of them have none without it as above."""
    variant = model_of(protocol, preset, bounds)
    plain, _ = reachable(model_of(KAFKA, preset, bounds))
    states, _ = reachable(variant, "request.")
    names = [c.variable.name for c in variant.cells if "request." not in c.variable.name]
    known = [any(part in name for part in KNOWN) for name in names]
    rest = [not is_known for is_known in known]
    alike = defaultdict(list)

    def part(state: bytes, cells: list[bool]) -> tuple[int, ...]:
        return tuple(compress(memoryview(state).cast("h"), cells))

    for state in plain:
        alike[part(state, rest)].append(part(state, known))

    def is_covered(state: bytes) -> bool:
        less, more = part(state, known), alike[part(state, rest)]
        return any(all(x <= y for x, y in zip(less, m, strict=True)) for m in more)

    added = states - plain
    return len(added), sum(not is_covered(state) for state in added)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "bounds"),
    [
        ("kafka-fixed", ELECTIONS),
        ("kafka-2.0.1", CRASH),
        nightly(RELEASES, ("kafka-fixed", CRASH)),
        *(nightly(RELEASES, each) for each in [*ALIKE[:2], ("kafka-2.0.1", ELECTIONS)]),
    ],
)
def test_two_records_in_an_answer_leave_the_leader_with_less_knowledge_and_no_more(preset, bounds):
    added, uncovered = beyond(BATCHES, preset, bounds)
    assert added > 0
    assert uncovered == 0


@pytest.mark.nightly("a larger model of the same law")
def test_so_with_three_replicas():
    added, uncovered = beyond(BATCHES, "kafka-fixed", THREE | {"log_size": 2, "max_records": 2})
    assert added > 0
    assert uncovered == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "bounds"),
    [
        ("kafka-fixed", ELECTIONS),
        ("kafka-2.1", ELECTIONS),
        nightly(RELEASES, ("kafka-fixed", CRASH)),
        *(nightly(RELEASES, each) for each in ALIKE),
        nightly(RELEASES, ("kafka-fixed", THREE)),
    ],
)
def test_a_fetch_that_waits_in_a_socket_says_nothing_new(preset, bounds):
    _, uncovered = beyond(REQUESTS, preset, bounds)
    assert uncovered == 0


@pytest.mark.slow
def test_it_does_where_leader_epochs_are_not_compared():
    """Up to 2.0: a request of an earlier epoch counts, of an offset that is gone."""
    _, uncovered = beyond(REQUESTS, "kafka-2.0.1", ELECTIONS)
    assert uncovered > 0
