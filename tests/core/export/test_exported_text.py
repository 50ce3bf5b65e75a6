"""What is exported does what the model does, read again by readers of its two languages."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import product

import pytest

from checker.core.export.exported import Exported
from checker.core.export.promela import as_promela
from checker.core.export.tla import as_tla
from model.language import Annotated, Protocol, State, action, integers, require
from model.language.errors import UsageError
from model.protocols import PROTOCOLS
from properties import properties_of
from properties.claims import always
from tests.support.exports import check_promela, check_tla, export_of
from tests.support.lab import model_of, protocol_of
from tests.support.read_promela import ReadPromela
from tests.support.read_tla import ReadTla
from tests.support.tiers import nightly, slow_but
from tests.support.variants import random_states, small, tiny

CHECKS = {"promela": check_promela, "tla": check_tla}
SIZES = {"tiny": (tiny, 20), "small": (small, 4)}
QUICK = [
    *product(
        ("kip320", "async_isr", "kafka", "kafka_producer", "kafka_group", "kip595"),
        ["tiny"],
        CHECKS,
    ),
    *product(["kafka"], ["small"], ["tla"]),
    ("kraft", "tiny", "tla"),
]
"""Of the others some read megabytes, which takes long, and the rest have what these have."""
LONGEST = ("kraft", "small", "promela")


@pytest.mark.parametrize(
    ("name", "size", "language"),
    [
        *slow_but(QUICK, (each for each in product(PROTOCOLS, SIZES, CHECKS) if each != LONGEST)),
        nightly("a minute for megabytes of text", LONGEST),
    ],
)
def test_every_step_and_claim_of_every_protocol_is_the_models(name, size, language):
    model_at, count = SIZES[size]
    model = model_at(name)
    exported = export_of(model, properties_of(model.protocol))
    CHECKS[language](exported, [model.initial_state, *random_states(model, count, 1)])


def test_a_claim_about_steps_is_judged_of_both_states():
    def rise(s):
        require(s.n < 3)
        s.n = s.n + 1

    claim = always("rises", "n rises", of_steps=True)(lambda before, after: after.n > before.n)
    model = model_of(rise)
    for check in CHECKS.values():
        check(export_of(model, [claim]), [model.initial_state])


PROGRAM = """
from model.language.ground import cell_node
from tests.support.exports import export_of
from tests.support.variants import tiny
from checker.core.export.promela import as_promela
from checker.core.export.tla import as_tla
from properties import properties_of
model = tiny("kip279")
cells = model.wide.cells
known = [cell_node(0, cell) for cell in {order}]
exported = export_of(model, properties_of(model.protocol))
print(as_promela(exported) + as_tla(exported, "M").module)
"""


@pytest.mark.slow
def test_the_text_does_not_depend_on_what_was_captured_before():
    texts = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM.format(order=order)], check=True, capture_output=True
        ).stdout
        for order in ("cells", "reversed(cells)")
    }
    assert len(texts) == 1


def doubling(s):
    """Each value is made of the one before it, twice: as a tree it has 2^16 leaves."""
    value = s.n
    for _ in range(16):
        value = (value + value) - s.desk.m
    require(value < 5)
    s.n = value


def test_what_is_shared_is_written_once():
    model = model_of(doubling)
    exported = Exported(model, (), "")
    for text in (as_promela(exported), as_tla(exported, "M").module):
        assert len(text) < 20_000
    states = [model.initial_state, *random_states(model, 40, 1)]
    check_promela(exported, states)
    check_tla(exported, states)


LARGE = 2**31 - 1


class Large(State):
    """Two numbers that Promela can hold, and whose sum it cannot."""

    a: Annotated[int, integers(0, LARGE)] = 0
    b: Annotated[int, integers(0, LARGE)] = 0


@action("a and b grow")
def grow(s):
    require(s.a < 1)
    s.a, s.b = LARGE, LARGE


@action("b is cleared")
def clear(s):
    require(s.a + s.b > LARGE)
    s.b = 0


def test_numbers_that_promela_would_cut_on_the_way_are_refused():
    """Spin would count `a + b` as negative, and never clear `b`."""

    def written(*actions):
        protocol = Protocol("large", "large numbers", Large, actions, ())
        return as_promela(Exported(protocol.model({}), (), ""))

    assert "2147483647" in written(grow)
    with pytest.raises(UsageError, match="0 to 4294967294, more than 32 bits"):
        written(grow, clear)


def either(s):
    """Two alternatives that are both true: one step."""
    require((s.n < 2) | (s.desk.m < 2))
    s.n = 1


def test_no_step_of_tla_has_alternatives_that_tlc_would_take_apart():
    module = as_tla(Exported(model_of(either), (), ""), "M").module
    written = re.findall(r"^.*\\/ .*$", module.partition("Next ==")[0], re.MULTILINE)
    assert [line.partition("(")[0].split() for line in written] == [["/\\", "TRUE", "="]]


def swap(s):
    s.n, s.desk.m = s.desk.m, s.n


def test_what_is_assigned_at_once_reads_the_state_before():
    model = model_of(swap)
    exported = Exported(model, (), "")
    states = random_states(model, 40, 1)
    check_promela(exported, states)
    check_tla(exported, states)


def test_a_deadlock_is_an_error_only_when_asked_for():
    model = tiny("kip320")
    assert not ReadPromela(as_promela(Exported(model, (), ""))).deadlock_is_an_error
    assert ReadPromela(as_promela(Exported(model, (), "", deadlock=True))).deadlock_is_an_error
    for deadlock in (True, False):
        written = as_tla(Exported(model, (), "", deadlock=deadlock), "M")
        assert f"CHECK_DEADLOCK {str(deadlock).upper()}" in written.configuration


def nothing(s):
    require(s.n == 5)


def test_what_nothing_can_change_has_no_module():
    model = protocol_of(nothing).model({})
    ReadPromela(as_promela(Exported(model, (), "")))
    with pytest.raises(UsageError, match="nothing of lab can change"):
        as_tla(Exported(model, (), ""), "M")


def step(s):
    s.n = 1


@pytest.mark.parametrize("name", ["now", "t1", "do", "vars", "Init", "r0", "n"])
def test_names_of_either_language_are_left_alone(name):
    claim = always(name, "words with */ and \\* and (* in them")(lambda s: s.n == 0)
    model = model_of(step)
    exported = Exported(model, (claim,), "highwater */ \\n")
    check_promela(exported, [model.initial_state])
    check_tla(exported, [model.initial_state])


def test_headers_say_what_is_exported():
    model = PROTOCOLS["kip320"].model({"replicas": 2}, {"fence_fetch": False})
    exported = Exported(model, properties_of(model.protocol)[:1], "highwater export kip320", 7)
    for text in (as_promela(exported), as_tla(exported, "M").module):
        head = text[:600]
        for words in ("highwater export kip320", "replicas 2", "fence_fetch=false", "7"):
            assert words in head
    assert ReadTla(as_tla(exported, "M").module).steps
