"""Reports show every step, what it changed and why the end matters, in any form and any width."""

from __future__ import annotations

import html
import html.parser
import re
from dataclasses import replace
from pathlib import Path

import pytest

import checker.telling.report.story
from checker.core.engines.reference import ReferenceEngine
from checker.core.traces.trace import build_trace
from checker.lab.experiments.cases import stored_case
from checker.lab.experiments.choices import steps_named
from checker.telling.report.html import render_html
from checker.telling.report.markdown import render_markdown
from checker.telling.report.mermaid import render_mermaid
from checker.telling.report.paragraphs import markdown_lines
from checker.telling.report.places import LogPlace, places_of
from checker.telling.report.space_time import SpaceTime
from checker.telling.report.story import NOT_NEEDED, tell
from checker.telling.report.text import render_text
from model.language.errors import CaptureError
from model.language.naming import value_words
from model.protocols import PROTOCOLS
from properties import properties_of
from properties.claims import Sense
from tests.support.traces import (
    OFFICE,
    WEATHER,
    golden_kip279,
    instance_of,
    losing_truncation,
    random_walk,
    short_walks,
    unsafe_isr,
    verdicts,
)

GOLDEN = golden_kip279()
VERDICTS = verdicts()
TRACES = [*VERDICTS, *short_walks()]
RENDERERS = [render_text, render_markdown, render_mermaid, render_html]


def spoken(output: str) -> str:
    """What a reader of a report sees: no markup, one space between words."""
    output = re.sub(r"(?<!&)#(\d+);", lambda code: chr(int(code.group(1))), output)
    output = re.sub(r"\\([\\`*<>\[\]_])", r"\1", output)
    return " ".join(html.unescape(re.sub(r"<[^>\n]*>", "", output)).split())


def plain(words: str) -> str:
    return " ".join(re.sub(r"<[^>\n]*>", "", words).split())


# Every form tells everything.


@pytest.mark.parametrize("render", RENDERERS)
@pytest.mark.parametrize("trace", TRACES)
def test_every_step_is_told_in_words(render, trace):
    engine = ReferenceEngine(trace.model)
    output, position = plain(spoken(render(trace))), 0
    for state, instance in zip(trace.states, trace.steps, strict=False):
        words = plain(engine.words(state, instance))
        position = output.index(words, position) + len(words)


@pytest.mark.parametrize("render", RENDERERS)
@pytest.mark.parametrize("trace", VERDICTS)
def test_the_property_and_what_falsifies_it_are_told(render, trace):
    output = spoken(render(trace))
    assert trace.property in output
    assert trace.claim.words in output
    assert trace.explanation in output


@pytest.mark.parametrize("render", [render_text, render_markdown, render_html])
@pytest.mark.parametrize("trace", VERDICTS)
def test_the_header_says_what_was_checked(render, trace):
    output = spoken(render(trace))
    for words in (trace.model.protocol.words, trace.model.protocol.name):
        assert words in output
    for name, value in trace.model.bounds.items():
        assert (f"{name.replace('_', ' ')} {value}" in output) is (value > 0)
    assert ("all others 0" in output) is (0 in trace.model.bounds.values())


@pytest.mark.parametrize("trace", VERDICTS)
def test_lines_of_markdown_are_narrow_and_none_goes_on_as_another_item(trace):
    outside = re.sub(r"```.*?```", "", render_markdown(trace), flags=re.DOTALL).splitlines()
    assert max(len(line) for line in outside if not line.startswith("#")) <= 100
    assert not [line for line in outside if re.match(r" +(?:[-+*#>]|\d+[.)]) ", line)]


def test_a_line_of_markdown_does_not_begin_with_a_sign():
    lines = markdown_lines(f"b0: {'x' * 94} - 0:e0", "- ")
    assert len(lines) > 1 and not any(line.startswith("  - ") for line in lines)


def test_only_settings_that_differ_from_their_default_are_told():
    assert "maximal_isr=false" in render_text(unsafe_isr())
    model = PROTOCOLS["kip320"].model(settings={"fence_fetch": "false"})
    output = render_text(build_trace(model, []))
    assert "settings  fence_fetch=false\n" in output
    assert "fence_truncation" not in output
    assert "all at their defaults" in render_text(build_trace(PROTOCOLS["kip320"].model(), []))
    assert "settings" not in render_text(GOLDEN)


@pytest.mark.parametrize("render", RENDERERS)
@pytest.mark.parametrize("trace", VERDICTS)
def test_the_same_trace_gives_the_same_report(render, trace):
    assert render(trace) == render(replace(trace))


@pytest.mark.parametrize("render", RENDERERS)
def test_a_trace_without_steps_is_told(render):
    trace = build_trace(PROTOCOLS["kip320"].model(), [])
    assert "kip320" in render(trace) or render is render_mermaid


# Changes are all that changed.


@pytest.mark.parametrize("trace", TRACES)
def test_every_cell_that_changed_is_told_and_no_other(trace):
    """Counters are left out where something else changed: what they number is told."""
    places = places_of(trace.model)
    moments = tell(trace).moments[1:]
    for before, after, moment in zip(trace.states, trace.states[1:], moments, strict=False):
        told = {(change.owner, change.name.split()[0]) for change in moment.changes}
        for place in places:
            changed = shown(trace.model, place, before) != shown(trace.model, place, after)
            if place.name.startswith("next ") and any(name != "next" for _, name in told):
                continue
            assert ((place.owner.name, place.name.split()[0]) in told) >= changed
        names = {(place.owner.name, place.name.split()[0]) for place in places}
        assert told <= names | {("partition", "HW"), ("tiered", "HW")}  # they follow from cells
        assert bool(moment.changes) is (before != after)


def shown(model, place, state):
    if isinstance(place, LogPlace):
        return place.entries(model, state)
    return value_words(model, place.cell, state[place.cell.position])


@pytest.mark.parametrize("trace", TRACES)
def test_the_places_cover_every_cell_once(trace):
    covered = []
    for place in places_of(trace.model):
        if isinstance(place, LogPlace):
            covered.append(place.end.position)
            covered += [cell.position for record in place.records for _, cell in record]
        else:
            covered.append(place.cell.position)
    assert sorted(covered) == list(range(len(trace.model.cells)))


def test_a_number_is_none_only_where_its_domain_says_so():
    model = WEATHER.model()
    for state in (model.initial_state, random_walk(model, 12, seed=5).states[-1]):
        for cell, number in zip(model.cells, state, strict=True):
            is_none = cell.variable.name == "day" and number == -2
            assert (value_words(model, cell, number) == "none") is is_none


def test_what_stays_below_zero_is_not_left_out():
    model = WEATHER.model()
    cooler = build_trace(model, [instance_of(model, "cool")])
    assert "degrees -3" in render_text(cooler)
    assert "day none" not in render_text(build_trace(model, []))


def test_a_change_says_from_what_to_what():
    changes = [change.words() for change in tell(GOLDEN).moments[10].changes]
    assert changes == ["log - 0:e2", "epoch 0 -> 1", "leader r0 -> r1"]


def test_a_request_that_is_new_has_no_before():
    changes = tell(GOLDEN).moments[1].changes
    assert [c.words() for c in changes if c.owner == "request 0"] == [
        "leader r0", "ISR {r0, r1, r2}",
    ]  # fmt: skip


def test_a_high_watermark_that_is_derived_is_told():
    moment = tell(unsafe_isr()).moments[-1]
    assert "HW 0 -> 1" in [change.words() for change in moment.changes]


# Why it ends as it does.


@pytest.mark.parametrize("render", [render_text, render_markdown])
def test_a_step_that_is_not_needed_is_marked_and_the_ending_says_why(render):
    case = stored_case(Path("acks_1"))
    assert case is not None
    trace = case.stored_trace()
    assert NOT_NEEDED not in render(trace) and "ends the same way" not in render(trace)
    (detour,) = steps_named(trace.model, ["leader_propose_shrink(leader=b0, follower=b2)"])
    output = spoken(render(build_trace(trace.model, [detour, *trace.steps], trace.property)))
    assert output.count(NOT_NEEDED) == 1
    assert f"b0 sends AlterPartition to remove b2 from the ISR {NOT_NEEDED}" in output
    assert "It ends the same way without step 1." in output


def test_a_protocol_that_cannot_be_captured_is_shown_without_why(monkeypatch):
    trace = losing_truncation()
    assert "It fails for " in render_text(trace)

    def refuse(*_):
        raise CaptureError("not this one")

    monkeypatch.setattr(type(trace.model), "grounded", refuse)
    assert "It fails for " not in render_text(trace)


# Markup.


class Balance(html.parser.HTMLParser):
    """Fails on a tag that is not closed in order."""

    VOID = frozenset({"meta", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("trace", TRACES)
def test_the_page_is_whole_and_needs_nothing_else(trace):
    page = render_html(trace)
    reader = Balance()
    reader.feed(page)
    assert reader.open == [] and reader.links == []
    assert not reader.tags & {"link", "iframe", "img", "b1"}
    assert not re.search(r"https?://|url\(|@import", page)
    assert page.count('<section class="step"') == trace.depth + 1


def test_words_that_look_like_markup_are_escaped():
    model = OFFICE.model()
    steps = [
        instance_of(model, "draw_ticket"),
        instance_of(model, "take_job", worker=0, job=0),
        instance_of(model, "refuse_job", worker=0, job=0),
    ]
    trace = build_trace(model, steps)
    words = "workers 0 refuses job 0; <b>#1</b> | *loudly*"
    assert words in render_text(trace)
    assert "&lt;b&gt;#1&lt;/b&gt; | *loudly*" in render_html(trace)
    assert r"\<b\>#1\</b\> | \*loudly\*" in render_markdown(trace)
    assert "#59; #60;b#62;#35;1#60;/b#62;" in render_mermaid(trace)


@pytest.mark.parametrize("trace", TRACES)
def test_a_diagram_has_one_message_a_step_between_declared_participants(trace):
    lines = [line.strip() for line in render_mermaid(trace).splitlines()]
    assert lines[0] == "sequenceDiagram"
    declared = {m.group(1) for line in lines if (m := re.match(r"participant (p\d+) as .+", line))}
    messages = [m for line in lines if (m := re.match(r"(p\d+)->>(p\d+): \S.*", line))]
    notes = [m for line in lines if (m := re.match(r"Note over (p\d+)(?:,(p\d+))?: \S.*", line))]
    assert len(messages) == trace.depth
    assert 2 + len(declared) + len(messages) + len(notes) == len(lines)
    assert {end for m in (*messages, *notes) for end in m.groups() if end} <= declared
    assert not any(";" in re.sub(r"#\d+;", "", line) for line in lines)


@pytest.mark.parametrize("trace", TRACES)
def test_who_takes_part_in_a_diagram_has_a_lane_on_the_page(trace):
    declared = re.findall(r"participant p\d+ as (.+)", render_mermaid(trace))
    lanes = SpaceTime(trace.model).lanes
    assert set(declared) <= {*lanes, "protocol"}


def test_a_diagram_shows_who_acts_on_whom():
    lines = render_mermaid(GOLDEN).splitlines()
    assert "    participant p0 as controller" in lines
    assert "    p0->>p1: controller elects r0" in lines
    assert "    p3->>p1: r2 fetches from r0" in lines
    assert "    p1->>p1: r0 appends a record" in lines


# Each law can fail.


def test_a_report_that_drops_a_change_is_noticed(monkeypatch):
    """Mutant: logs are not compared."""
    monkeypatch.setattr(checker.telling.report.story, "_log_changes", lambda *_: [])
    with pytest.raises(AssertionError):
        test_every_cell_that_changed_is_told_and_no_other(GOLDEN)


def test_a_report_that_drops_the_reason_is_noticed(monkeypatch):
    """Mutant: the ending is left out."""
    monkeypatch.setattr(checker.telling.report.story, "_ending", lambda _: ())
    with pytest.raises(AssertionError):
        test_the_property_and_what_falsifies_it_are_told(render_mermaid, GOLDEN)


def test_a_page_says_once_what_the_property_is_before_its_diagram():
    case = stored_case(Path("acks_1"))
    assert case is not None
    trace = case.stored_trace()
    head = render_html(trace).partition('id="app"')[0].partition("<body>")[2]
    assert trace.claim is not None and head.count(trace.claim.words) == 1
    assert head.count(trace.claim.name) == 1 and "<dt>verdict" not in head


def test_a_heading_says_what_the_system_does_where_claim_and_protocol_have_words_for_it():
    case = stored_case(Path("36-positions_from_a_missed_epoch"))
    assert case is not None
    trace = case.stored_trace()
    assert tell(trace).title == "Kafka 4.1 loses an acknowledged record in 12 steps"
    kafka, steps = PROTOCOLS["kafka"], "loses an acknowledged record in 12 steps"
    set_by_operator = {"min.insync.replicas": "1", "acks": "1"}
    for preset, settings, system in (
        ("3.9.1-zookeeper", set_by_operator, "Kafka 3.9.1 with ZooKeeper"),
        ("4.1", {"broker.epoch.checked": "false"}, "Kafka 4.1 with changed rules"),
        ("fixed", {"broker.epoch.checked": "false"}, "Kafka with all fixes and changed rules"),
        (None, {}, "Kafka"),
    ):
        other = replace(trace, model=kafka.model(trace.model.bounds, settings, preset))
        assert checker.telling.report.story._title(other) == f"{system} {steps}"
    other = replace(trace, property="isr_members_unfenced")
    expected = "kafka: isr_members_unfenced is violated after 12 steps"
    assert checker.telling.report.story._title(other) == expected


@pytest.mark.parametrize(
    ("case", "heading"),
    [
        (
            "99-a_voters_record_is_not_read",
            "The KRaft quorum of Kafka 4.3 has two majorities without a common controller "
            "in 16 steps",
        ),
        (
            "77-a_full_heartbeat_on_the_way",
            "A consumer group of Kafka 4.3 with the consumer protocol hands a partition over "
            "before it is given up in 9 steps",
        ),
    ],
)
def test_a_heading_names_quorums_and_groups_by_their_release(case, heading):
    stored = stored_case(Path(case))
    assert stored is not None
    assert tell(stored.stored_trace()).title == heading


def test_each_claim_of_a_protocol_says_what_breaks_it_does():
    silent = {
        f"{name}: {claim.name}"
        for name, protocol in PROTOCOLS.items()
        for claim in properties_of(protocol)
        if name != "kafka" and claim.sense is Sense.ALWAYS and not claim.breach
    }
    assert silent == set()
