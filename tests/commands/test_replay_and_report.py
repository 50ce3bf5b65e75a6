"""`replay` accepts what holds up and nothing else; `report` writes what it accepts."""

import json
from pathlib import Path

import pytest

from checker.core.exits import Exit
from checker.core.traces.itf import read_trace
from checker.lab.explanations.explanation import recognised_words
from checker.telling.report.html import render_html
from checker.telling.report.markdown import render_markdown
from checker.telling.report.mermaid import render_mermaid
from checker.telling.report.text import render_text

RENDERERS = {
    "text": render_text,
    "markdown": render_markdown,
    "mermaid": render_mermaid,
    "html": render_html,
}
SMALL = ("--replicas", 2, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1)


@pytest.fixture
def stored(highwater, tmp_path):
    """A stored trace, of 8 steps."""
    directory = tmp_path / "traces"
    found = highwater(
        "explore", "truncate_to_high_watermark", *SMALL, "--trace-dir", directory, "--json"
    )
    return found.json["violations"][0]["trace"]


def test_several_traces_are_told_in_a_line_each(highwater, stored):
    ended = highwater("replay", stored, "kip101-weak_isr")
    assert ended.status == Exit.OK
    assert ended.out == (f"{stored}: accepted, 8 steps\nkip101-weak_isr: accepted, 10 steps\n")
    data = highwater("replay", stored, "kip101-weak_isr", "--json").json
    assert data["accepted"] and [each["depth"] for each in data["traces"]] == [8, 10]
    ended = highwater("replay", "kip101-weak_isr", stored, "--protocol", "kip101")
    assert ended.status != Exit.OK and "not of kip101" in ended.err


def test_a_true_trace_is_accepted_and_shown(highwater, stored):
    ended = highwater("replay", stored)
    assert ended.status == Exit.OK
    assert ended.out.startswith(render_text(read_trace(stored)))
    assert ended.out.endswith("accepted: 8 steps replayed; the end shows what the trace claims\n")
    assert max(map(len, ended.out.splitlines())) <= 80
    assert highwater("replay", stored, "--quiet").out == ""


def test_json_says_what_was_replayed(highwater, stored):
    data = highwater("replay", stored, "--json").json
    trace = read_trace(stored)
    assert data["accepted"] is True
    assert data["protocol"] == "truncate_to_high_watermark"
    assert data["bounds"] == dict(trace.model.bounds)
    assert (data["property"], data["verdict"], data["depth"]) == ("weak_isr", "violated", 8)
    assert len(data["steps"]) == 8
    assert data["explanation"] == trace.explanation


def test_a_changed_trace_is_rejected(highwater, stored):
    path = Path(stored)
    document = json.loads(path.read_text())
    last = document["states"].pop()
    document["#meta"]["depth"] -= 1
    path.write_text(json.dumps(document))
    ended = highwater("replay", stored, "--json")
    assert ended.status == Exit.REJECTED
    assert ended.json["accepted"] is False
    assert ended.err == f"error: {ended.json['error']}\n"
    assert "weak_isr is true in the last state" in ended.err
    assert highwater("report", stored).status == Exit.REJECTED
    assert last["#meta"]["index"] == 8


def test_a_trace_of_another_protocol_is_rejected(highwater, stored):
    assert highwater("replay", stored, "--protocol", "truncate_to_high_watermark").status == 0
    ended = highwater("replay", stored, "--protocol", "kip320")
    assert ended.status == Exit.REJECTED
    assert "it is of truncate_to_high_watermark, not of kip320" in ended.err
    assert highwater("replay", stored, "--protocol", "kip9").status == Exit.USAGE


@pytest.mark.parametrize("kind", RENDERERS)
def test_every_format_is_written(highwater, stored, tmp_path, kind):
    trace = read_trace(stored)
    known = [recognised_words(trace)] if kind == "html" else []
    expected = RENDERERS[kind](trace, *known)
    assert "weak_isr" in expected and all("an instance of" in words for words in known)
    assert highwater("report", stored, "--format", kind).out == expected
    output = tmp_path / "report"
    output.write_text("old")
    ended = highwater("report", stored, "--format", kind, "-o", output)
    assert (ended.status, ended.out, ended.err) == (Exit.OK, "", f"wrote {output}\n")
    assert output.read_text(encoding="utf-8") == expected
    assert highwater("report", stored, "--format", kind, "--json").json["text"] == expected


def test_a_report_that_cannot_be_written_leaves_nothing_behind(highwater, stored, tmp_path):
    ended = highwater("report", stored, "-o", tmp_path / "nowhere" / "x")
    assert ended.status == Exit.USAGE
    assert "No such file or directory" in ended.err
    assert highwater("report", stored, "-o", tmp_path).status == Exit.USAGE
    assert [path.name for path in tmp_path.iterdir()] == ["traces"]


CASE = "counterexamples/ladder/kip101-weak_isr"


@pytest.mark.parametrize("case", [CASE, "kip101-weak_isr"])
def test_a_stored_case_is_replayed_and_shown_by_folder_and_by_name(highwater, tmp_path, case):
    data = highwater("replay", case, "--json").json
    assert (data["property"], data["depth"], data["accepted"]) == ("weak_isr", 10, True)
    page = tmp_path / "page.html"
    assert highwater("report", case, "--format", "html", "-o", page).status == Exit.OK
    assert "weak_isr is violated after 10 steps" in page.read_text()


def test_the_traces_of_cases_are_written_as_itf(highwater, tmp_path):
    assert highwater("cases", CASE, "--itf", tmp_path / "traces").status == Exit.OK
    (path,) = (tmp_path / "traces").iterdir()
    assert path.name == "kip101-weak_isr.itf.json"
    assert (read_trace(path).depth, read_trace(path).property) == (10, "weak_isr")


@pytest.mark.slow
def test_a_trace_of_other_settings_is_kept_and_the_same_one_replaced(highwater, tmp_path):
    def explore(*settings):
        found = highwater("explore", "kip320", "--property", "weak_isr", "--trace-dir", tmp_path,
                          *settings, "--no-cross-check", "--json")  # fmt: skip
        return Path(found.json["violations"][0]["trace"])

    first = explore("--set", "fence_fetch=false")
    content = first.read_bytes()
    second = explore("--set", "fence_fetch=false", "--set", "wait_for_epoch=false")
    assert (first.name, second.name) == ("kip320-weak_isr.itf.json", "kip320-weak_isr-2.itf.json")
    assert explore("--set", "fence_fetch=false") == first
    assert first.read_bytes() == content
    assert len(list(tmp_path.iterdir())) == 2


def test_a_trace_says_by_which_preset_it_was_chosen(highwater, tmp_path):
    """In its name, in its content and where it is shown, with what was chosen besides."""

    def explore(preset):
        bounds = ("--replicas", 2, "--crashes", 1, "--log-size", 1, "--max-records", 1)
        found = highwater("explore", "kafka", "--preset", preset, "--set", "acks=1", *bounds,
                          "--property", "acknowledged_records_survive", "--trace-dir", tmp_path,
                          "--no-cross-check", "--json")  # fmt: skip
        return Path(found.json["violations"][0]["trace"])

    new, old = explore("4.3"), explore("kafka-2.1")
    assert new.name == "kafka-4.3-acknowledged_records_survive.itf.json"
    assert old.name == "kafka-2.1-acknowledged_records_survive.itf.json"
    assert read_trace(old).model.preset == "kafka-2.1"
    assert "settings  kafka-4.3, acks=1\n" in highwater("report", new).out
    assert "settings  kafka-2.1\n" in highwater("report", old).out
    document = json.loads(old.read_text())
    for change in ({}, {"preset": "kafka-0.1"}):  # from before presets were told, or no longer one
        meta = {key: value for key, value in document["#meta"].items() if key != "preset"}
        old.write_text(json.dumps(document | {"#meta": meta | change}))
        told = " ".join(highwater("report", old).out.split())
        assert "kafka-2.1" not in told
        assert "broker.epoch.checked=false" in told


def test_several_traces_are_reported_at_once(highwater, tmp_path):
    """One after another, or each into a file of a folder, as one alone would be."""
    names = ("kip101-weak_isr", "kip101-strong_isr")
    alone = [highwater("report", name).out for name in names]
    assert highwater("report", *names).out == "\n".join(alone)
    found = highwater("report", *names, "--json").json["reports"]
    assert [(report["trace"], report["text"]) for report in found] == [
        *zip(names, alone, strict=True)
    ]
    assert highwater("report", *names, "-o", tmp_path / "all").status == Exit.OK
    assert [(tmp_path / "all" / f"{name}.txt").read_text() for name in names] == alone
    twice = highwater("report", names[0], CASE, "-o", tmp_path / "twice")
    assert (twice.status, twice.out) == (Exit.USAGE, "")
    assert "two of the traces would be written to" in twice.err
    assert not (tmp_path / "twice").exists()
    rejected = highwater("report", names[0], "nowhere", "-o", tmp_path / "none")
    assert rejected.status == Exit.USAGE
    assert not (tmp_path / "none").exists()


def test_a_report_does_not_replace_its_trace(highwater, tmp_path):
    highwater("explore", "kip101", "--trace-dir", tmp_path)
    trace = tmp_path / "kip101-weak_isr.itf.json"
    content = trace.read_bytes()
    refused = highwater("report", trace, "-o", trace)
    assert (refused.status, "would replace the trace" in refused.err) == (2, True)
    assert trace.read_bytes() == content
