"""What a search says never depends on what was still being compiled beside it when it ended."""

from __future__ import annotations

import threading

import pytest

from checker.core.engines.background import Background
from checker.core.engines.machine_code import SwitchOver, Written
from checker.core.native import object_code
from checker.core.search import explore
from checker.core.search.explore import Explorer, Options
from model.protocols import protocol_named
from properties import properties_of


@pytest.fixture
def never_ready(tmp_path, monkeypatch):
    """Nothing is kept, and what is compiled beside a search is ready only when the test is over."""
    monkeypatch.setenv("HIGHWATER_CACHE", str(tmp_path))
    over, compiled = threading.Event(), object_code._compiled
    main = threading.current_thread()

    def slowly(*arguments):
        if threading.current_thread() is not main:
            over.wait()
        return compiled(*arguments)

    monkeypatch.setattr(object_code, "_compiled", slowly)
    yield over
    over.set()


def told(name, **options):
    model = protocol_named(name).model()
    explorer = Explorer(
        model,
        properties_of(model.protocol),
        options=Options(cross_check=False, keep_going=True, **options),
    )
    found = explorer.run()
    violated = [(v.property.name, [str(step) for step in v.steps]) for v in found.violations]
    return violated, found.levels, [str(step) for step in explorer.deepest()]


def busy(until):
    """Threads beside a search that have no time for it, so that what is begun has to wait."""
    background = Background(1)
    background.begin(until.wait)
    return background


def test_a_search_that_ends_before_its_code_is_compiled_tells_its_traces(never_ready, monkeypatch):
    monkeypatch.setattr(explore, "Background", lambda _: busy(never_ready))
    name = "truncate_to_high_watermark"
    some = told(name, symmetry=True, workers=2, compile_after=0.0)
    assert some[0]
    assert some == told(name, symmetry=True, workers=1, compile_after=None)


@pytest.mark.parametrize("waits", [True, False], ids=["waits", "too late"])
def test_who_calls_when_all_is_over_gets_what_the_program_gives(never_ready, waits):
    background = busy(never_ready)
    never = Written[[int], int]([""], "", lambda _: pytest.fail("compiled"))
    called = SwitchOver[[int], int](
        lambda number: number + 5, lambda: never, lambda *_: None, background, 0.0
    )
    assert not waits or called(1) == 6
    background.close()
    assert [called(number) for number in (2, 3)] == [7, 8]
