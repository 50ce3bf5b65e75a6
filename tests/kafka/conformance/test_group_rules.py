"""The model's assignors and Kafka's own give the same, on every small input."""

from __future__ import annotations

import itertools

import pytest

from checker.core.engines.vectorised import VectorisedEngine
from checker.kafka.conformance.group_rules import assignments
from model.kafka_group.protocol import KAFKA_GROUP
from model.kafka_group.state import COMPLETING, SYNCING
from tests.support.tiers import RELEASES, nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clients")]
VERSIONS = ["4.3.1", *(nightly(RELEASES, v) for v in ("3.5.2", "3.7.2", "3.9.1", "4.1.0"))]
SIZES = [(members, partitions) for members in (1, 2, 3) for partitions in (1, 2, 3)]


def _claims(members, partitions):
    """Who says that it owns what: nobody, one, or two of each partition; and since when.

    Who owns nothing names no generation.
    """
    owners = [(), *((m,) for m in range(members)), *itertools.combinations(range(members), 2)]
    for owned in itertools.product(owners, repeat=partitions):
        claims = [(1, 2) if any(m in o for o in owned) else (1,) for m in range(members)]
        for generations in itertools.product(*claims):
            yield owned, generations


def _given(strategy, members, partitions, claims):
    """What the model's assignor gives to each member, by its own step, whoever claims what."""
    bounds = {"members": members, "topic_partitions": partitions, "generations": 3}
    model = KAFKA_GROUP.model(bounds, {"partition.assignment.strategy": strategy})
    (step,) = [i for i in model.instances if i.action.name == "leader_sync" and i.arguments == (0,)]
    engine, place = VectorisedEngine(model), model.positions
    states = [_state(model, members, partitions, *claim) for claim in claims]
    found = engine.expand(engine.layout.pack(states))
    kept = found.instances == step.number
    assert found.rows[kept].tolist() == list(range(len(states)))
    assigned = [
        engine.layout.column(found.words[:, kept], place["partitions.assigned", (partition,)])
        for partition in range(partitions)
    ]
    return [
        [[p for p in range(partitions) if given[p] >> member & 1] for member in range(members)]
        for given in zip(*assigned, strict=True)
    ]


def _state(model, members, partitions, owned, generations):
    """All have joined, and the leader of the group is about to deal the partitions."""
    state, place = list(model.initial_state), model.positions
    has = [[p for p in range(partitions) if m in owned[p]] for m in range(members)]
    for member in range(members):
        state[place["consumers.rank", (member,)]] = member
        state[place["consumers.phase", (member,)]] = int(SYNCING)
        state[place["consumers.claims_of", (member,)]] = generations[member] if has[member] else 0
    state[place["coordinator.joined", ()]] = 2**members - 1  # a set is a number, a bit a member
    for partition in range(partitions):
        state[place["partitions.claimed", (partition,)]] = sum(2**m for m in owned[partition])
    state[place["coordinator.state", ()]] = int(COMPLETING)
    return tuple(state)


def _question(strategy, members, partitions, owned, generations):
    has = [[p for p in range(partitions) if m in owned[p]] for m in range(members)]
    said = [
        f"{generations[m] if has[m] else -1}:{''.join(map(str, has[m]))}" for m in range(members)
    ]
    return " ".join([strategy, str(partitions), *said])


def _compared(version, strategy, inputs):
    """How many inputs were compared; each gives the same."""
    asked, expected = [], []
    for (members, partitions), same in itertools.groupby(inputs, key=lambda each: each[0]):
        claims = [claim for _, *claim in same]
        asked += [_question(strategy, members, partitions, *claim) for claim in claims]
        expected += _given(strategy, members, partitions, claims)
    told = [
        [[int(digit) for digit in word[1:]] for word in line.split(" ")]
        for line in assignments(version, asked)
    ]
    different = [
        (question, of_kafka, of_model)
        for question, of_kafka, of_model in zip(asked, told, expected, strict=True)
        if of_kafka != of_model
    ]
    assert not different, f"{len(different)} of {len(asked)}: {different[:5]}"
    return len(asked)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
def test_partitions_are_dealt_as_kafka_deals_them(version, strategy):
    inputs = [((m, p), [()] * p, [1] * m) for m, p in SIZES]
    assert _compared(version, strategy, inputs) == 9


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("strategy", ["sticky", "cooperative-sticky"])
def test_what_members_keep_and_get_is_what_kafka_gives_them(version, strategy):
    inputs = [
        ((m, p), owned, generations) for m, p in SIZES for owned, generations in _claims(m, p)
    ]
    assert _compared(version, strategy, inputs) > 2_500


def test_a_wrong_rule_would_be_noticed():
    """Range is not round robin: three partitions for two members."""
    inputs = [((2, 3), [()] * 3, [1, 1])]
    assert _given("roundrobin", 2, 3, [([()] * 3, [1, 1])]) == [[[0, 2], [1]]]
    assert _compared("4.3.1", "range", inputs) == 1
    (told,) = assignments("4.3.1", [_question("range", 2, 3, [()] * 3, [1, 1])])
    assert told == "-01 -2"
