"""Text for a terminal: narrow as asked, in colours or plain, with a lane for each broker."""

from __future__ import annotations

import functools
import io
import re

import pytest
from rich.console import Console

from checker.core.traces.trace import build_trace
from checker.telling.report.lanes import Lane
from checker.telling.report.places import Entry
from checker.telling.report.story import tell
from checker.telling.report.text import render_text
from model.protocols import PROTOCOLS
from tests.support.traces import (
    OFFICE,
    TOPIC,
    golden_kip279,
    instance_of,
    losing_truncation,
    random_walk,
    short_walks,
    unsafe_isr,
    verdicts,
)

GOLDEN = golden_kip279()
TRACES = [*verdicts(), *short_walks()]


@functools.cache
def crowded(replicas: int = 5):
    """A run with more brokers than fit side by side in a narrow terminal."""
    model = PROTOCOLS["kip320"].model({"replicas": replicas, "log_size": 6, "max_records": 6})
    return random_walk(model, 30, seed=2)


def lane(mark: int | None, *entries: Entry) -> Lane:
    return Lane("r0", "leader", "1", mark, len(entries), "{r0}", entries)


@pytest.mark.parametrize(
    ("mark", "drawn"),
    [
        (0, "[|0:e1 1:e2]"),
        (1, "[0:e1|1:e2]"),
        (2, "[0:e1 1:e2|]"),
        (3, "[0:e1 1:e2 .|]"),
        (None, "[0:e1 1:e2]"),
    ],
)
def test_a_log_is_drawn_with_a_bar_at_the_high_watermark(mark, drawn):
    assert lane(mark, Entry("0:e1", 1), Entry("1:e2", 2)).log == drawn


def test_an_empty_log_is_drawn():
    assert lane(0).log == "[|]"
    assert lane(None).log == "[]"


def test_a_lane_is_what_the_broker_holds():
    last = tell(GOLDEN).moments[-1].lanes
    assert [lane.columns for lane in last] == [
        ("r0", "leader", "e2", "HW 1", "LEO 1", "ISR {r0,r2}"),
        ("r1", "no leader", "e-", "HW 0", "LEO 0", "ISR {}"),
        ("r2", "follows r1", "e1", "HW 0", "LEO 0", "ISR {r0,r1,r2}"),
    ]
    assert [lane.log for lane in last] == ["[0:e2|]", "[|]", "[|]"]
    assert [lane.name for lane in last if lane.changed] == ["r2"]


def test_a_leader_that_the_quorum_does_not_know_is_presumed():
    model = PROTOCOLS["kip320"].model()
    steps = [
        instance_of(model, "controller_elect_leader", leader=0),
        instance_of(model, "become_leader", leader=0, request=0),
        instance_of(model, "controller_elect_leader", leader=1),
    ]
    moments = tell(build_trace(model, steps)).moments
    assert [moment.lanes[0].role for moment in moments] == [
        "no leader", "no leader", "leader", "presumed",
    ]  # fmt: skip


def test_a_lane_is_found_in_the_parts_of_a_broker():
    model = TOPIC.model()
    steps = [
        instance_of(model, "elect", broker=0),
        instance_of(model, "append", broker=0),
        instance_of(model, "elect", broker=1),
        instance_of(model, "crash", broker=1),
    ]
    moments = tell(build_trace(model, steps)).moments
    assert [(*lane.columns, lane.log) for lane in moments[-1].lanes] == [
        ("b0", "presumed", "e0", "HW 0", "LEO 1", "", "[|0:e0]"),
        ("b1", "down", "e1", "HW 0", "LEO 0", "", "[|]"),
    ]
    assert [change.words() for change in moments[-1].changes] == [
        "up true -> false", "fenced false -> true",
    ]  # fmt: skip


def test_lanes_are_drawn_all_at_both_ends_and_where_they_changed_between():
    blocks = re.split(r"\n\n", render_text(GOLDEN))
    drawn = [re.findall(r"^ +(r\d) .*\[.*\]$", block, re.M) for block in blocks]
    everyone = ["r0", "r1", "r2"]
    steps = [block for block in drawn if block]
    assert steps == [everyone, ["r0"], ["r0"], ["r0"], ["r2"], ["r2"], ["r0"], everyone]


def test_protocols_without_a_log_have_no_lanes():
    assert not tell(unsafe_isr()).moments[0].lanes
    assert "LEO" not in render_text(random_walk(OFFICE.model(), 8, seed=3))


@pytest.mark.parametrize("width", [20, 80])
@pytest.mark.parametrize("trace", [*TRACES, crowded()])
def test_text_is_never_wider_than_asked(width, trace):
    assert max(map(len, render_text(trace, width).splitlines())) <= width


def test_text_in_80_columns_keeps_each_lane_on_one_line():
    for trace in (GOLDEN, losing_truncation()):
        states, _, _ = render_text(trace).partition("\nIt fails ")
        lines = [line for line in states.splitlines() if "LEO" in line]
        assert lines
        assert all(re.search(r"\bHW \d+ .*\[.*\]$", line) for line in lines)
        assert len({line.index("[") for line in lines}) == 1


@pytest.mark.parametrize("width", [20, 25, 70])
@pytest.mark.parametrize("replicas", [1, 5])
def test_text_loses_nothing_when_it_wraps(replicas, width):
    narrow, wide = (render_text(crowded(replicas), columns) for columns in (width, 300))
    assert sorted("".join(narrow.split())) == sorted("".join(wide.split()))


def test_piped_text_is_plain():
    output = render_text(GOLDEN)
    assert output.isascii() and output.isprintable() is False
    assert "\x1b" not in output
    assert not re.search(r"[ \t]$", output, re.M)
    piped = Console(file=io.StringIO(), width=200)
    assert render_text(GOLDEN, 80, piped) == output


def test_on_a_terminal_records_have_the_colour_of_their_epoch():
    terminal = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=80)
    output = render_text(GOLDEN, 80, terminal)
    assert "\x1b[33m0:e2\x1b[0m" in output
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in output.splitlines()]
    assert "\n".join(lines) + "\n" == render_text(GOLDEN)


def test_on_a_terminal_what_changed_has_a_colour_of_its_own():
    terminal = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=80)
    output = render_text(losing_truncation(), 80, terminal)
    assert "HW 0 -> \x1b[1;33m1\x1b[0m" in output  # what a value is now
    assert re.search(r"log \+ \x1b\[1;32m\d:e\d\x1b\[0m", output)
    assert re.search(r"log - \x1b\[1;31m\d:e\d\x1b\[0m", output)
    assert re.search(r"\x1b\[1;33mLEO 1\s*\x1b\[0m", output)  # and in its lane


def test_a_terminal_without_colours_gets_none():
    terminal = Console(file=io.StringIO(), force_terminal=True, no_color=True, width=80)
    assert "\x1b[33m" not in render_text(GOLDEN, 80, terminal)
