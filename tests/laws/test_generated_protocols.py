"""What holds of every protocol that the language can express, held against generated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from model.language.errors import DomainError
from tests.laws import laws, part_laws, proof_laws
from tests.laws.generator import Example, examples
from tests.support.tiers import first_and_slow

_SLOW_LAWS = (
    *(laws.machine_code_agrees, laws.z3_terms_agree),
    *proof_laws.PROOF_LAWS,
    *part_laws.PART_LAWS,
)
_EXPORTS = laws.exports_do_what_the_model_does
_SETTINGS = settings(
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def hold(law: Callable[[Example], None], count: int, **changes: Any) -> int:
    """Hold a law against `count` examples; how many of them capture took."""
    taken = 0

    @settings(_SETTINGS, max_examples=count, **changes)
    @given(examples())
    def check(example: Example) -> None:
        nonlocal taken
        if laws.can_be_captured(example):
            taken += 1
            law(example)

    check()
    return taken


def each_of(some: Iterable[Callable[[Example], None]]) -> Callable[[Example], None]:
    """Laws as one, so that they are held against the same protocols, captured once."""

    def law(example: Example) -> None:
        for one in some:
            one(example)

    return law


def test_laws_hold_of_generated_protocols():
    quick = [law for law in laws.LAWS if law not in (*_SLOW_LAWS, _EXPORTS)]
    assert hold(each_of(quick), 12) > 6


def test_what_is_exported_of_generated_protocols_is_the_model():
    assert hold(_EXPORTS, 12) > 6


def test_laws_that_take_longer_hold_of_generated_protocols():
    assert hold(each_of(_SLOW_LAWS), 5) > 2


@pytest.mark.nightly("ten thousand protocols take half an hour and more")
def test_all_laws_hold_of_ten_thousand_generated_protocols():
    quick = [law for law in laws.LAWS if law not in _SLOW_LAWS]
    assert hold(each_of(quick), 10_000) > 9_000


@pytest.mark.slow
@pytest.mark.parametrize("law", _SLOW_LAWS, ids=lambda law: law.__name__)
def test_slow_law_holds_of_generated_protocols(law):
    assert hold(law, 10) > 6


@pytest.mark.nightly("two thousand protocols take twenty minutes")
@pytest.mark.parametrize("law", _SLOW_LAWS, ids=lambda law: law.__name__)
def test_slow_law_holds_of_two_thousand_generated_protocols(law):
    assert hold(law, 2_000) > 1_500


# --- each engine, broken by one operator, is noticed --------------------------------------------


def is_noticed(law: Callable[[Example], None]) -> bool:
    """Whether the law fails on one of some hundred examples."""
    try:
        hold(law, 400, derandomize=True, phases=[Phase.generate])
    except (AssertionError, DomainError):
        return True
    return False


@pytest.mark.parametrize(
    ("operator", "source"),
    first_and_slow(
        ("EQ", "{} <= {}"),
        ("LT", "{} <= {}"),
        ("LE", "{} < {}"),
        ("BITAND", "{} | {}"),
        ("BITOR", "{} & {}"),
    ),
)
def test_a_wrong_operator_of_the_vectorised_engine_is_noticed(operator, source, monkeypatch):
    from checker.core.engines import vectorised
    from model.language.graph import Op

    monkeypatch.setitem(vectorised._INFIX, Op[operator], source)
    assert is_noticed(laws.engines_agree)


@pytest.mark.parametrize(
    ("operator", "call"),
    first_and_slow(
        ("ADD", "np.subtract"), ("SUB", "np.add"), ("MIN", "np.maximum"), ("MAX", "np.minimum")
    ),
)
def test_a_wrong_function_of_the_vectorised_engine_is_noticed(operator, call, monkeypatch):
    from checker.core.engines import vectorised
    from model.language.graph import Op

    monkeypatch.setitem(vectorised._CALLS, Op[operator], call)
    assert is_noticed(laws.engines_agree)


@pytest.mark.parametrize("operator", first_and_slow("LT", "ADD", "MIN", "BITAND"))
def test_a_wrong_instruction_of_the_compiled_engine_is_noticed(operator, monkeypatch):
    from checker.core.engines import machine_code
    from model.language.graph import Op

    other = {"LT": "LE", "ADD": "SUB", "MIN": "MAX", "BITAND": "BITOR"}[operator]
    table = machine_code._OPERATIONS
    monkeypatch.setitem(table, Op[operator], table[Op[other]])
    assert is_noticed(laws.machine_code_agrees)


@pytest.mark.parametrize(
    "method", first_and_slow("union", "with_member", "without_member", "includes")
)
def test_a_wrong_set_of_the_reference_engine_is_noticed(method, monkeypatch):
    from checker.core.engines.reference import PlainSet

    wrong = {
        "union": PlainSet.intersection,
        "with_member": PlainSet.without_member,
        "without_member": PlainSet.with_member,
        "includes": lambda self, other: bool(self.numbers <= other.numbers),
    }
    monkeypatch.setattr(PlainSet, method, wrong[method])
    assert is_noticed(laws.engines_agree)


def test_a_quantifier_that_is_grounded_wrongly_is_noticed(monkeypatch):
    from model.language import graph, ground

    def without_the_last(self, node, env):
        return graph.conjunction(*self._bodies(node, env)[:-1])

    build = ground.Grounder.__init__

    def broken(self, *arguments):
        build(self, *arguments)
        self._rules[graph.Op.FORALL] = lambda node, env: without_the_last(self, node, env)

    monkeypatch.setattr(ground.Grounder, "__init__", broken)
    assert is_noticed(laws.engines_agree)


@pytest.mark.nightly("the same law holds of ten thousand, and of some on every change")
def test_an_unbroken_engine_is_not_noticed():
    assert not is_noticed(laws.engines_agree)
