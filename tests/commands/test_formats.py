"""Results for programs: SARIF and JUnit say what the text says, JSON is as its schema says."""

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import fastjsonschema
import pytest

from checker.commands.cli import COMMANDS
from checker.core.exits import Exit
from checker.telling.report.github import annotation
from tests.commands.conftest import ROOT, check_output
from tests.support.actions import told_in
from tests.support.own import write_counter

TINY = ("--replicas", 2, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1)
POSITIVE = {"type": "integer", "minimum": 1}
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
PLACE = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "required": ["artifactLocation", "region"],
            "properties": {
                "artifactLocation": {"required": ["uri"]},
                "region": {"required": ["startLine"], "properties": {"startLine": POSITIVE}},
            },
        },
        "message": TEXT,
    },
}
SARIF = fastjsonschema.compile({  # what SARIF 2.1.0 requires of the parts that are written here
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": {
            "required": ["tool", "results"],
            "properties": {
                "tool": {"required": ["driver"], "properties": {"driver": {
                    "required": ["name"],
                    "properties": {"rules": {"type": "array", "uniqueItems": True, "items": {
                        "required": ["id"], "properties": {"shortDescription": TEXT},
                    }}},
                }}},
                "invocations": {"items": {"required": ["executionSuccessful"]}},
                "results": {"type": "array", "items": {
                    "required": ["message"],
                    "properties": {
                        "message": TEXT,
                        "level": {"enum": ["none", "note", "warning", "error"]},
                        "kind": {"enum": [
                            "notApplicable", "pass", "fail", "review", "open", "informational",
                        ]},
                        "locations": {"type": "array", "items": PLACE},
                        "codeFlows": {"items": {"required": ["threadFlows"], "properties": {
                            "threadFlows": {"minItems": 1, "items": {
                                "required": ["locations"],
                                "properties": {"locations": {"minItems": 1, "items": {
                                    "properties": {"location": PLACE, "executionOrder": POSITIVE},
                                }}},
                            }},
                        }}},
                    },
                }},
            },
        }},
    },
})  # fmt: skip


def sarif_of(ended):
    told = json.loads(ended.out)
    SARIF(told)
    (run,) = told["runs"]
    return run


def suite_of(ended) -> Any:
    return ElementTree.fromstring(ended.out).find("testsuite")


def line_at(location):
    place = location["physicalLocation"]
    file = place["artifactLocation"]["uri"].removeprefix("file://")
    return Path(file).read_text().splitlines()[place["region"]["startLine"] - 1 :]


def test_sarif_is_at_the_property_and_flows_through_the_actions(highwater, monkeypatch):
    monkeypatch.chdir(ROOT)
    ended = highwater("explore", "kip101", "--property", "weak_isr", "--format", "sarif")
    assert ended.status == Exit.VIOLATED
    run = sarif_of(ended)
    (result,) = run["results"]
    assert result["ruleId"] == "weak_isr"
    assert "after 10 steps" in result["message"]["text"]
    (place,) = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "properties/ladder/claims.py"
    assert any("def weak_isr" in line for line in line_at(place)[:12])
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [each["executionOrder"] for each in flow] == list(range(1, 11))
    first = flow[0]["location"]
    assert first["message"]["text"] == "controller elects r0"
    assert any("def controller_elect_leader" in line for line in line_at(first)[:8])


def test_sarif_of_a_deadlock_of_a_limit_and_of_nothing(highwater, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    stuck = sarif_of(highwater("explore", "kip320", *TINY, "--deadlock", "--format", "sarif"))
    (result,) = stuck["results"]
    assert result["ruleId"] == "deadlock"
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.startswith("file://")  # not below the working directory
    cut = sarif_of(highwater("explore", "kip320", "--max-states", 5, "--format", "sarif"))
    assert cut["results"] == []
    (note,) = cut["invocations"][0]["toolExecutionNotifications"]
    assert "limit of 5 states" in note["message"]["text"]
    clean = sarif_of(highwater("explore", "kip320", *TINY, "--format", "sarif"))
    assert clean["results"] == [] and not clean["invocations"][0]["toolExecutionNotifications"]


def test_an_annotation_is_at_the_line_of_the_property_in_the_repository(
    highwater, monkeypatch, tmp_path
):
    below = tmp_path / "50%, or less"
    below.mkdir()
    write_counter(below, ("counts {c.count}", "counts {c.count}, 100% too far: yes"))
    monkeypatch.chdir(below)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    ended = highwater("explore", "counter.py", "--format", "github")
    assert ended.status == Exit.VIOLATED
    [told] = told_in(ended.out)
    assert told.values["title"] == "counter: below_two is violated after 2 steps"
    assert told.message.splitlines() == [
        "c0 counts 2, 100% too far: yes", "1. c0 counts on", "2. c0 counts on",
    ]  # fmt: skip
    file, line = told.place
    text = (tmp_path / file).read_text().splitlines()[line - 1]
    assert text.startswith('@always("below_two"')


@pytest.mark.parametrize("level", ["error", "warning", "notice"])
@pytest.mark.parametrize("text", ["100%25%0A, a:b::c", "one\r\ntwo\n::error::three", "%3A=%2C,%"])
def test_any_text_comes_back_from_an_annotation_and_ends_none(level, text):
    written = annotation(level, text, text, (text, 3))
    [told] = told_in(written)
    assert (written.count("\n"), told.level, told.message) == (1, level, text)
    assert told.values == {"title": text, "file": text, "line": "3"}


def test_an_annotation_is_an_error_unless_all_was_visited(highwater, monkeypatch, tmp_path):
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    for limit, level in ((("--max-states", 5), "error"), (("--depth", 12), "notice"),
                         (("--depth", 3), "warning")):  # fmt: skip
        ended = highwater("explore", "kip320", *TINY, *limit, "--format", "github")
        told = told_in(ended.out)
        assert (told[0].level, told[0].place) == (level, None)
    refused = highwater("explore", "kip320", "--nonsense", "--format", "github")
    [error] = told_in(refused.out)
    assert refused.err == f"error: {error.message}\n"


def test_one_search_is_written_in_as_many_forms_as_are_asked_for(highwater, tmp_path):
    page, data, tests = (tmp_path / "new" / name for name in ("page.md", "data", "tests.xml"))
    also = [f"markdown={page}", f"json={data}", f"junit={tests}"]
    given = [word for each in also for word in ("--also", each)]
    ended = highwater("explore", "kip101", "--property", "weak_isr", *given)
    assert ended.status == Exit.VIOLATED
    check_output(json.loads(data.read_text()))
    assert "violated after 10 steps" in page.read_text() and "## 10. " in page.read_text()
    suite: Any = ElementTree.fromstring(tests.read_text()).find("testsuite")
    assert suite.get("failures") == "1"
    for wrong in ("html=x", "markdown", "markdown="):
        assert highwater("explore", "kip101", "--also", wrong).status == Exit.USAGE
    unsaved = highwater("explore", "kip320", *TINY, "--also", f"json={tmp_path}")
    assert unsaved.status == Exit.USAGE and "exhausted: nothing" in unsaved.out


def test_junit_has_a_case_for_each_property_with_its_trace(highwater):
    ended = highwater("explore", "kip101", "--format", "junit")
    assert ended.status == Exit.VIOLATED
    suite = suite_of(ended)
    cases = {case.get("name"): case for case in suite}
    assert int(suite.get("tests")) == len(cases)
    assert int(suite.get("failures")) == 2
    failed = cases["weak_isr"].find("failure")
    assert "violated after 10 steps" in failed.get("message")
    assert "controller elects r0" in failed.text
    assert cases["leader_in_isr"].find("failure") is None
    cut = highwater("explore", "kip320", "--max-states", 5, "--format", "junit")
    suite = suite_of(cut)
    assert int(suite.get("skipped")) == len(suite)
    assert "limit of 5 states" in suite[0].find("skipped").get("message")


def test_two_formats_are_refused_and_json_is_one_of_them(highwater):
    ended = highwater("explore", "kip320", *TINY, "--format", "json")
    check_output(ended.json)
    assert ended.json["verdict"] == "exhausted"
    both = highwater("explore", "kip320", "--json", "--format", "sarif")
    assert both.status == Exit.USAGE
    assert "choose one" in both.err


@pytest.mark.parametrize("command", COMMANDS)
def test_an_error_is_json_too_where_json_was_asked_for(highwater, command):
    ended = highwater(command, "--json", "--nonsense")
    assert ended.status == Exit.USAGE
    assert ended.json["command"] == command
    assert ended.json["status"] == Exit.USAGE
    assert ended.err == f"error: {ended.json['error']}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("explore", "kip320", *TINY, "--deadlock", "--liveness", "--no-cross-check"),
        ("simulate", "kip320", *TINY, "--walks", 5),
        ("prove", "async_isr"),
        ("prove", "async_isr", "--bounded", 2),
        ("prove", "kip320", "--no-lemmas", *TINY),
        ("infer", "async_isr", "--replicas", 2),
        ("scenario", "four_step_commit"),
        ("reproduce",),
        ("cases", ROOT / "counterexamples" / "ladder" / "kip101-weak_isr"),
        ("replay", "kip101-weak_isr"),
        ("report", "kip101-weak_isr"),
        ("explain", "kip101-weak_isr", "--no-search"),
        ("matrix", "--stored"),
    ],
    ids=lambda arguments: " ".join(map(str, arguments[:3])),
)
def test_what_commands_print_is_as_the_schema_says(highwater, arguments, monkeypatch):
    monkeypatch.chdir(os.path.dirname(__file__))
    ended = highwater(*arguments, "--json")
    assert ended.json["command"] == arguments[0]
    assert "error" not in ended.json, ended.json


def test_the_schema_refuses_what_is_not_said_in_it():
    with pytest.raises(fastjsonschema.JsonSchemaException):
        check_output({"command": "scenario", "runs": [], "more": 1})
    with pytest.raises(fastjsonschema.JsonSchemaException):
        check_output({"command": "explore", "error": ""})
