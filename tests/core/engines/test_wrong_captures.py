"""Whatever is captured wrongly is refused, by every search, every proof and every simulation."""

from __future__ import annotations

import dataclasses
import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from checker.core.engines.agreement import require_agreement
from checker.core.proofs.bounded.bounded_check import BoundedChecker, lemmas_that_hold
from checker.core.proofs.bounded.induction import Induction, InductionOptions
from checker.core.proofs.inference import infer
from checker.core.proofs.inference.infer import Inferrer
from checker.core.proofs.unbounded.unbounded_proof import UnboundedInduction
from checker.core.search import minimise as minimising
from checker.core.search.explore import Explorer, Options
from checker.core.search.simulate import Budget, Simulator
from checker.core.spark.distributed import Cluster, SparkExplorer
from checker.core.stores.journal import StoredExplorer
from checker.core.stores.manifest import manifest_for
from checker.core.stores.store import open_store
from checker.lab.experiments.mutants import Judge
from model.language import (
    Annotated,
    Bound,
    Entity,
    Members,
    Protocol,
    State,
    action,
    integers,
    members,
    protocol,
    require,
)
from model.language.capture import lint, recorder
from model.language.errors import DisagreementError, DomainError
from model.protocols import PROTOCOLS
from properties import Property, Sense, properties_of
from tests.support.variants import small


def _stored(model, properties, _, place):
    options = Options()
    store = open_store(str(place), manifest_for(model, properties, options), resume=True)
    return StoredExplorer(store, model, properties, options=options).run()


def _never(_: object) -> Any:
    raise AssertionError("a session was started")


def _on_spark(model, properties, _, place):
    """No session is ever started: the driver compares before anything else."""
    store = open_store(str(place), manifest_for(model, properties, Options()), resume=True)
    return SparkExplorer(store, model, properties, Cluster(_never, hand_over=0)).run()


SEARCHES = {
    "explore": lambda model, props, _, __: Explorer(model, props).run(),
    "explore with machine code": lambda model, props, _, __: Explorer(
        model, props, options=Options(workers=2, compile_after=0)
    ).run(),
    "explore with a store": _stored,
    "explore on Spark": _on_spark,
    "mutate": lambda model, props, _, __: Judge(model, tuple(props)).original,
    "simulate": lambda model, props, _, __: Simulator(model, props, 0, Budget(10)).run(),
    "make short": lambda model, props, _, __: minimising.minimise(
        model, model.instances[:1], props[0]
    ),
}
PROOFS = {
    "prove": lambda model, props, lemmas, _: Induction(model, props, lemmas).run(),
    "strengthen": lambda model, props, lemmas, _: lemmas_that_hold(model, [*props, *lemmas]),
    "prove --bounded": lambda model, props, lemmas, _: BoundedChecker(model, props, lemmas).run(1),
    "prove --unbounded": lambda model, props, lemmas, _: UnboundedInduction(
        model, props, lemmas
    ).run(),
    "infer": lambda model, props, _, __: Inferrer(model, props).run(),
}
every_search = pytest.mark.parametrize("run", SEARCHES.values(), ids=SEARCHES)
every_entry = pytest.mark.parametrize("run", (SEARCHES | PROOFS).values(), ids=[*SEARCHES, *PROOFS])

REPLICAS = Bound("replicas", default=2, minimum=1, words="members")


class Member(Entity):
    """Counts."""

    _label = "m"
    n: Annotated[int, integers(0, 3)] = 0


class Group(State):
    """Members that count."""

    members: Members[Member] = members(REPLICAS)


def limit():
    """A function that tells who runs it: nothing that an action or a claim may do."""
    return 3 if recorder.active is None else 2


rounds = itertools.count()


@action("{member} counts")
def count_up(group: Group, member: Member) -> None:
    require(member.n < limit())
    member.n = member.n + 1


@action("{member} counts as it should")
def count_well(group: Group, member: Member) -> None:
    require(member.n < 3)
    member.n = member.n + 1


@action("{member} counts as often as nobody knows")
def count_by_chance(group: Group, member: Member) -> None:
    require(member.n + next(rounds) % 2 < 3)
    member.n = member.n + 1


@action("{member} adds what depends on who asks")
def add_by_reader(group: Group, member: Member) -> None:
    require(member.n == 0)
    member.n = member.n + limit()


@pytest.fixture
def group_of(monkeypatch):
    """The model with one action; the protocol is one that workers can build.

    Capture refuses none of its functions here: the net has to hold by itself.
    """
    monkeypatch.setattr(lint.Watch, "run", lambda _, function, *arguments: function(*arguments))

    def model_with(*actions):
        protocol = Protocol("misread", "is captured wrongly", Group, actions, (REPLICAS,))
        monkeypatch.setitem(PROTOCOLS, "misread", protocol)
        monkeypatch.setattr(infer, "templates_of", lambda _: SimpleNamespace())
        return protocol.model()

    return model_with


WITHIN = Property("within", "nobody is beyond 3", lambda g: g.bound("replicas") > 0)


@every_entry
def test_an_action_that_is_captured_wrongly_is_refused(run, group_of, tmp_path):
    with pytest.raises(DisagreementError) as error:
        run(group_of(count_up), [WITHIN], [], tmp_path)
    words = str(error.value)
    assert "action count_up (" in words
    assert f"test_wrong_captures.py:{count_up.function.__code__.co_firstlineno})" in words
    assert "count_up(member=m0) where members[m0].n is 2" in words
    assert "run as Python, it is enabled, and then members[m0].n is 3; " in words
    assert "as captured, it is not enabled." in words


@every_entry
def test_an_action_that_reads_a_mutable_global_is_refused(run, group_of, tmp_path):
    with pytest.raises(DisagreementError, match="action count_by_chance"):
        run(group_of(count_by_chance), [WITHIN], [], tmp_path)


def test_values_that_differ_are_told(group_of):
    words = r"add_by_reader\(member=m0\) in the initial state: run as Python, members\[m0\].n is 3"
    with pytest.raises(DisagreementError, match=words + r"; as captured, members\[m0\].n is 2"):
        require_agreement(group_of(add_by_reader))


def _misread(group):
    return group.bound("replicas") < limit()


MISREAD = Property("misread", "is captured wrongly", _misread)


@every_entry
def test_a_claim_that_is_captured_wrongly_is_refused(run, group_of, tmp_path):
    words = r"property misread \(.*test_wrong_captures.py:\d+\).* in the initial state: "
    words += "run as Python, it is true; as captured, it is false"
    with pytest.raises(DisagreementError, match=words):
        run(group_of(count_well), [MISREAD], [], tmp_path)


@every_search
def test_a_premise_that_is_captured_wrongly_is_refused(run, group_of, tmp_path):
    prop = dataclasses.replace(WITHIN, premise=_misread)
    with pytest.raises(DisagreementError, match="the premise of within"):
        run(group_of(count_well), [prop], [], tmp_path)


@every_search
def test_a_witness_that_is_captured_wrongly_is_refused(run, group_of, tmp_path):
    with pytest.raises(DisagreementError, match="property misread"):
        run(
            group_of(count_well),
            [dataclasses.replace(MISREAD, sense=Sense.SOMETIMES)],
            [],
            tmp_path,
        )


@pytest.mark.parametrize("name", [name for name in PROOFS if name != "infer"])
def test_a_lemma_that_is_captured_wrongly_is_refused(name, group_of):
    with pytest.raises(DisagreementError, match="property misread"):
        PROOFS[name](group_of(count_well), [WITHIN], [MISREAD], None)


def test_a_known_lemma_that_is_captured_wrongly_is_refused_by_infer(group_of, monkeypatch):
    monkeypatch.setattr(infer, "lemmas_of", lambda _: (MISREAD,))
    with pytest.raises(DisagreementError, match="property misread"):
        Inferrer(group_of(count_well), [WITHIN]).run()


@pytest.mark.parametrize(
    "run", [*SEARCHES.values(), *(PROOFS[name] for name in ("prove", "prove --bounded"))]
)
def test_a_claim_about_steps_that_is_captured_wrongly_is_refused(run, group_of, tmp_path):
    grows = Property(
        "grows", "", lambda before, after: after.members[0].n <= before.members[0].n + limit() - 3,
        of_steps=True,
    )  # fmt: skip

    words = "property grows .* in the initial state, then where .*: run as Python, it is "
    with pytest.raises(DisagreementError, match=words):
        run(group_of(count_well), [grows], [], tmp_path)


@every_entry
def test_an_initial_state_that_is_captured_wrongly_is_refused(run, monkeypatch, tmp_path):
    model = dataclasses.replace(small("async_isr"))  # which no engine has seen
    monkeypatch.setattr(protocol, "capture_start", lambda *_: ())
    with pytest.raises(
        DisagreementError, match=r"start start \(model/async_isr.*: run as Python, "
    ):
        run(model, [properties_of(model.protocol)[1]], [], tmp_path)


def test_a_value_that_does_not_fit_is_refused_if_one_engine_alone_says_so(group_of):
    @action("counts on")
    def count_on(group: Group, member: Member) -> None:
        require(member.n == 3)
        member.n = member.n + (1 if limit() == 3 else 0)

    with pytest.raises(DisagreementError, match="run as Python, it assigns a value outside its"):
        require_agreement(group_of(count_well, count_on), [])


def test_a_function_that_fails_as_python_is_refused(group_of):
    @action("fails")
    def fail(group: Group, member: Member) -> None:
        require(member.n == 0)
        if limit() == 3:
            raise ValueError("nothing to do")

    with pytest.raises(DisagreementError, match="it raises ValueError: nothing to do"):
        require_agreement(group_of(fail), [])


def test_a_value_that_does_not_fit_is_no_difference_if_both_say_so(group_of):
    @action("counts on")
    def count_on(group: Group, member: Member) -> None:
        member.n = member.n + 1

    model = group_of(count_on)
    assert require_agreement(model).tried > 0
    with pytest.raises(DomainError):
        Explorer(model, []).run()


def test_it_can_be_left_out(group_of):
    model = group_of(count_up)
    results: list[Any] = [
        Explorer(model, [], options=Options(cross_check=False)).run(),
        Simulator(model, [], 0, Budget(10), cross_check=False).run(),
        Induction(model, [WITHIN], options=InductionOptions(cross_check=False)).run(),
        BoundedChecker(model, [WITHIN], cross_check=False).run(1),
        UnboundedInduction(model, [WITHIN], [], cross_check=False).run(),
    ]
    assert [result.agreement for result in results] == [None] * 5
