"""The model's coordinator and Kafka's own say the same of a member, on every small input."""

from __future__ import annotations

import itertools

import pytest

from checker.core.engines.reference import ReferenceEngine
from checker.kafka.conformance.group_rules import coordinator_says
from model.kafka_group.protocol import KAFKA_GROUP
from model.kafka_group.state import COMPLETING, EMPTY, MEMBER, PREPARING, STABLE
from tests.support.tiers import RELEASES, nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clients")]
VERSIONS = ["4.3.1", *(nightly(RELEASES, v) for v in ("4.0.2", "4.2.1"))]
PARTITIONS = 3
THIS, OTHER = 1, 2  # a set of members is a number, a bit a member
SINCE = 1  # the epoch of the assignments that are there before
STATES = {
    "EMPTY": EMPTY,
    "PREPARING_REBALANCE": PREPARING,
    "COMPLETING_REBALANCE": COMPLETING,
    "STABLE": STABLE,
}


class _Coordinator:
    """The model's, of a release; states are made, not reached."""

    def __init__(self, version, protocol, **bounds):
        preset = "kafka-4.3" if version >= "4.3" else "kafka-4.0"
        settings = dict(KAFKA_GROUP.presets[preset]) | {"group.protocol": protocol}
        self.model = KAFKA_GROUP.model({"members": 2, "generations": 3, **bounds}, settings)
        self.engine = ReferenceEngine(self.model)
        self.place = self.model.positions

    def state(self, **cells):
        """The first state with these cells, `table__field` a list by its member or row."""
        state = list(self.engine.initial())
        for name, values in cells.items():
            table, _, field = name.partition("__")
            for row, value in enumerate(values):
                state[self.place[f"{table}.{field}", (row,) if table != "coordinator" else ()]] = (
                    int(value)
                )
        return tuple(state)

    def step(self, state, action, *arguments):
        """The state after the step of the first consumer, or None where it may not be taken."""
        (step,) = [
            i
            for i in self.model.instances
            if i.action.name == action and i.arguments == (0, *arguments)
        ]
        return self.engine.step(state, step)

    def column(self, state, field):
        """A field of every partition."""
        return [state[self.place[f"partitions.{field}", (p,)]] for p in range(PARTITIONS)]


def _members():
    """What a member has, is to have and says: (epoch, target epoch, rows, what it names).

    A row is of a partition: who has it, and whether the member is to have it. In the target's own
    epoch a member has nothing that it is not to have.
    """
    rows = list(itertools.product(("nobody", "assigned", "revoking", "other"), (False, True)))
    for chosen in itertools.product(rows, repeat=PARTITIONS):
        is_there = all(
            has != "revoking" and (has != "assigned" or wanted) for has, wanted in chosen
        )
        for owned in (None, *itertools.product((False, True), repeat=PARTITIONS)):
            yield from ((epoch, 3, chosen, owned) for epoch in (1, 2))
            if is_there:
                yield 3, 3, chosen, owned


def _after(coordinator, epoch, target_epoch, rows, owned):
    """(epoch, assigned with their epochs, revoking) of the model's member after its heartbeat."""
    has = [who for who, _ in rows]
    assigned = [who == "assigned" for who in has]
    holds = [not assigned[0], *assigned[1:]] if owned is None else list(owned)
    state = coordinator.state(
        coordinator__generation=[target_epoch],
        coordinator__state=[STABLE],
        consumers__phase=[MEMBER, MEMBER],
        consumers__rank=[0, 1],
        consumers__epoch=[epoch, target_epoch],
        consumers__generation=[epoch, target_epoch],
        partitions__assigned=[
            THIS if who == "assigned" else OTHER if who == "other" else 0 for who in has
        ],
        partitions__revoking=[THIS if who == "revoking" else 0 for who in has],
        partitions__target=[THIS if wanted else 0 for _, wanted in rows],
        partitions__assigned_epoch=[0 if who == "nobody" else SINCE for who in has],
        partitions__told=[THIS if one else 0 for one in assigned],
        partitions__holders=[THIS if one else 0 for one in holds],
    )
    in_full = owned is not None and holds != assigned
    step = "coordinator_handle_full_heartbeat" if in_full else "coordinator_handle_heartbeat"
    after = coordinator.step(state, step) or state  # nothing to do: all stays
    since = coordinator.column(after, "assigned_epoch")
    return (
        after[coordinator.place["consumers.epoch", (0,)]],
        {p: since[p] for p, who in enumerate(coordinator.column(after, "assigned")) if who & THIS},
        {p: since[p] for p, who in enumerate(coordinator.column(after, "revoking")) if who & THIS},
    )


def _numbers(chosen):
    return "-" + "".join(str(p) for p, one in enumerate(chosen) if one)


def _question(state, epoch, target_epoch, rows, owned):
    parts = [_numbers(who == kind for who, _ in rows) for kind in ("assigned", "revoking", "other")]
    target = _numbers(wanted for _, wanted in rows)
    named = "none" if owned is None else _numbers(owned)
    return " ".join(
        ["reconcile", state, str(epoch), str(target_epoch), *parts[:2], target, parts[2], named]
    )


def _states(epoch, target_epoch, rows):
    """The states that Kafka's member may be in with this: the model tells them from the rest."""
    if any(who == "revoking" for who, _ in rows):
        return ["UNREVOKED_PARTITIONS"]
    if epoch < target_epoch:
        return ["STABLE", "UNRELEASED_PARTITIONS"]
    is_complete = all(who == "assigned" for who, wanted in rows if wanted)
    return ["STABLE" if is_complete else "UNRELEASED_PARTITIONS"]


def _read(answer):
    epoch, *both = answer.split(" ")
    return int(epoch), *(
        {
            int(one.partition(":")[0]): int(one.partition(":")[2] or -1)
            for one in part[1:].split(",")
            if one
        }
        for part in both
    )


def _compared(version):
    """[(input, Kafka's answer, the model's)], one for each input and state of Kafka's member."""
    coordinator = _Coordinator(version, "consumer", topic_partitions=PARTITIONS, full_heartbeats=1)
    inputs = [(state, *given) for given in _members() for state in _states(*given[:3])]
    told = coordinator_says(version, [_question(*one) for one in inputs])
    compared = []
    for given, answer in zip(inputs, told, strict=True):
        of_kafka, of_model = _read(answer), _after(coordinator, *given[1:])
        if version < "4.3":  # no epochs of assignments
            of_model = (of_model[0], *(dict.fromkeys(part, -1) for part in of_model[1:]))
        compared.append((given, of_kafka, of_model))
    return compared


@pytest.mark.parametrize("version", VERSIONS)
def test_a_heartbeat_moves_a_member_on_as_kafka_moves_it(version):
    """4.0 and 4.1 count one epoch up when a member that has given up must give up again."""
    compared = _compared(version)
    different = [one for one in compared if one[1] != one[2]]
    assert len(compared) > 10_000
    if version < "4.2":
        for given, of_kafka, of_model in different:
            assert given[0] == "UNREVOKED_PARTITIONS" and of_kafka[2], given
            assert of_kafka == (of_model[0] + 1, *of_model[1:])
        assert different
    else:
        assert not different, f"{len(different)} of {len(compared)}: {different[:3]}"


@pytest.mark.parametrize("version", VERSIONS)
def test_commits_of_members_are_taken_as_kafka_takes_them(version):
    """No member names an epoch later than the coordinator's own of it, who told it the epoch."""
    coordinator = _Coordinator(version, "consumer", topic_partitions=1, generations=4)
    asked, expected = [], []
    for known, named, epoch, has, since in itertools.product(
        (True, False), range(1, 5), range(1, 5), ("assigned", "revoking", "no"), range(1, 5)
    ):
        if since > epoch or (known and named > epoch):
            continue
        asked.append(f"consumer {str(known).lower()} {named} {epoch} {has} {since}")
        state = coordinator.state(
            coordinator__generation=[4],
            consumers__phase=[MEMBER],
            consumers__rank=[0 if known else -1],
            consumers__generation=[named],
            consumers__epoch=[epoch if known else 0],
            partitions__assigned=[THIS if has == "assigned" else 0],
            partitions__revoking=[THIS if has == "revoking" else 0],
            partitions__assigned_epoch=[since],
            partitions__holders=[THIS],
        )
        expected.append(coordinator.step(state, "consumer_commit") is not None)
    assert [answer == "NONE" for answer in coordinator_says(version, asked)] == expected
    assert len(asked) == 210 and 0 < sum(expected) < 210


@pytest.mark.parametrize("version", VERSIONS)
def test_commits_in_a_classic_group_are_taken_as_kafka_takes_them(version):
    coordinator = _Coordinator(version, "classic", topic_partitions=1)
    asked, expected = [], []
    for state, known, named, generation in itertools.product(
        STATES, (True, False), range(1, 4), range(1, 4)
    ):
        if state == "EMPTY" and known:
            continue
        asked.append(f"classic {state} {str(known).lower()} {named} {generation}")
        made = coordinator.state(
            coordinator__generation=[generation],
            coordinator__state=[STATES[state]],
            consumers__phase=[MEMBER],
            consumers__rank=[0 if known else -1],
            consumers__generation=[named],
            partitions__holders=[THIS],
        )
        expected.append(coordinator.step(made, "consumer_commit") is not None)
    assert [answer == "NONE" for answer in coordinator_says(version, asked)] == expected
    assert len(asked) == 63 and 0 < sum(expected) < 63


def test_a_wrong_rule_would_be_noticed():
    """What 4.3 takes of an earlier epoch, the model of 4.0 refuses."""
    assert coordinator_says("4.3.1", ["consumer true 1 2 assigned 1"]) == ["NONE"]
    cells = {
        "coordinator__generation": [2],
        "consumers__phase": [MEMBER],
        "consumers__rank": [0],
        "consumers__generation": [1],
        "consumers__epoch": [2],
        "partitions__assigned": [THIS],
        "partitions__assigned_epoch": [SINCE],
        "partitions__holders": [THIS],
    }
    for version, takes in (("4.3.1", True), ("4.0.2", False)):
        coordinator = _Coordinator(version, "consumer", topic_partitions=1)
        step = coordinator.step(coordinator.state(**cells), "consumer_commit")
        assert (step is not None) is takes
