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
from tests.commands.conftest import ROOT, check_output

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
