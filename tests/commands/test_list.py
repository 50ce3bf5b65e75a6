"""`list` names all that there is to choose from, and what it names is valid."""

import pytest

from checker.commands.engines import ENGINES
from checker.commands.list_command import KINDS
from checker.core.exits import Exit
from model.language import Bound, Protocol
from model.language.declare.settings import as_text
from model.protocols import PROTOCOLS
from properties import liveness_of, properties_of


def test_json_names_everything(highwater):
    data = highwater("list", "--json").json
    assert [each["name"] for each in data["protocols"]] == list(PROTOCOLS)
    assert set(data["engines"]) == set(ENGINES)
    for each in data["protocols"]:
        protocol = PROTOCOLS[each["name"]]
        assert each["words"] == protocol.words
        assert list(each["bounds"]) == [bound.name for bound in protocol.bounds]
        assert list(each["properties"]) == [prop.name for prop in properties_of(protocol)]
        assert each["actions"] == [action.name for action in protocol.actions]
        assert set(each["presets"]) == set(protocol.presets)
        assert list(each["liveness"]) == [prop.name for prop in liveness_of(protocol)]
        assert [fair["actions"] for fair in each["fairness"]] == [
            list(fair.actions) for fair in protocol.fairness
        ]


def test_what_is_listed_as_default_is_the_default(highwater):
    for each in highwater("list", "--json").json["protocols"]:
        model = PROTOCOLS[each["name"]].model()
        assert {name: b["default"] for name, b in each["bounds"].items()} == dict(model.bounds)
        settings = {name: setting["default"] for name, setting in each["settings"].items()}
        assert settings == as_text(model.settings)
        assert as_text(PROTOCOLS[each["name"]].model({}, settings).settings) == settings


def test_without_a_protocol_an_overview_fits_a_screen(highwater):
    out = highwater("list").out
    assert len(out.splitlines()) < 50 and max(map(len, out.splitlines())) <= 80
    words = " ".join(out.split())
    for protocol in PROTOCOLS.values():
        assert f"{protocol.name} {protocol.words}: {len(protocol.bounds)} bounds" in words
    for name, engine in ENGINES.items():
        assert f"{name} {engine.words}" in words


@pytest.mark.parametrize("name", PROTOCOLS)
def test_text_names_everything_in_80_columns(highwater, name):
    out = highwater("list", name).out
    data = highwater("list", name, "--json").json
    assert max(map(len, out.splitlines())) <= 80
    words = " ".join(out.split())
    for each in data["protocols"]:
        assert f"{each['name']} {each['words']}" in words
        for bound, about in each["bounds"].items():
            limits = f"({about['minimum']} to {about['maximum']})"
            option = f"--{bound.replace('_', '-')} {about['default']}"
            assert f"{option} {about['words']} {limits}" in words
        for setting, about in each["settings"].items():
            assert f"{setting}={about['default']} {about['words']} ({about['choices']})" in words
        for preset in each["presets"]:
            assert preset in words
        for prop, about in each["properties"].items():
            seen = "reachable: " if about["sense"] == "sometimes" else ""
            assert f"{prop} {seen}{about['words']}" in words
        for prop, about in each["liveness"].items():
            assert f"{prop} {about['kind']}: {about['words']}" in words
        for fair in each["fairness"]:
            for action in fair["actions"]:
                assert f"{action} {fair['strength']}, " in words
        for view, fields in each["views"].items():
            assert f"{view} {', '.join(fields)}" in words
    for engine, about in data["engines"].items():
        assert f"{engine} {about}" in words


def test_one_protocol_is_listed_without_the_others(highwater):
    out = highwater("list", "async_isr").out
    assert "maximal_isr" in out
    for other in PROTOCOLS.keys() - {"async_isr"}:
        assert other not in out


def test_presets_are_listed_with_their_settings(highwater, monkeypatch):
    kip320 = PROTOCOLS["kip320"]
    with_preset = kip320.variant("kip320", kip320.words, presets={"old": {"fence_fetch": False}})
    monkeypatch.setitem(PROTOCOLS, "kip320", with_preset)
    assert isinstance(with_preset, Protocol)
    assert isinstance(with_preset.bounds[0], Bound)
    data = highwater("list", "kip320", "--json").json["protocols"][0]
    assert data["presets"] == {"old": {"fence_fetch": "false"}}
    assert "old fence_fetch=false" in " ".join(highwater("list", "kip320").out.split())
    explored = highwater("explore", "kip320", "--preset", "old", "--depth", 1, "--json").json
    assert explored["settings"]["fence_fetch"] == "false"


@pytest.mark.parametrize("number", ["92", "0018"])
def test_a_bug_is_shown_with_all_that_there_is_of_it(highwater, number):
    shown = highwater("list", number)
    assert shown.status == Exit.OK
    words = " ".join(shown.out.split())
    for part in (
        "Bug 92, finding 0018",
        "releases 4.0.0 to 4.4.0 likely occasional today before you unregister a broker, move",
        "docs/findings/0018-an-unregistered-broker-in-the-elr.md",
        "highwater explain 92-an_unregistered_broker_stays_eligible",
        "highwater reproduce 0018 --schedule unregistered",
        "highwater upstream 0018 -o DIR",
        "unregistration.leaves.elr=true",
        "--fix 0018-elr-of-an-unregistered-broker",
    ):
        assert part in words
    (bug,) = highwater("list", number, "--json").json["bugs"]
    assert (bug["number"], bug["schedules"]) == (92, ["unregistered"])


def test_a_fix_that_is_no_setting_is_shown_on_a_cluster(highwater):
    shown = " ".join(highwater("list", "0039").out.split())
    edit = "0039-copied-is-what-is-there"
    assert shown.endswith(f"fix highwater reproduce 0039 --patched ({edit})")
    (bug,) = highwater("list", "0039", "--json").json["bugs"]
    assert bug["fixes"] == {edit: ""}


def test_a_bug_that_there_is_not_is_refused_in_a_line(highwater):
    refused = highwater("list", "93")
    assert refused.status == Exit.USAGE
    assert "no bug of the catalogue has the number '93'" in refused.err


def test_only_what_is_of_a_kind_is_listed(highwater):
    (told,) = highwater("list", "kip320", "--only", "settings", "--json").json["protocols"]
    (whole,) = highwater("list", "kip320", "--json").json["protocols"]
    assert told == {key: whole[key] for key in ("name", "words", "settings")}
    out = highwater("list", "kip320", "--only", "settings").out
    assert "fence_fetch=true" in out and "--replicas" not in out and "Engines" not in out
    kinds = ("--only", "bounds", "--only", "views")
    assert "--replicas" in highwater("list", "kip320", *kinds).out


def test_of_all_protocols_only_their_names(highwater):
    told = highwater("list", "--only", "protocols", "--json").json["protocols"]
    assert told == [{"name": each.name, "words": each.words} for each in PROTOCOLS.values()]
    assert highwater("list", "--only", "protocols").out == highwater("list").out
    out = highwater("list", "--only", "properties").out
    assert all(f"\n  {name} " in f"\n{out}" for name in PROTOCOLS)


def test_every_kind_is_listed_of_some_protocol(highwater):
    (whole,) = highwater("list", "kafka", "--json").json["protocols"]
    assert set(KINDS) - {"protocols"} == set(whole) - {"name", "words", "source", "sources"}
    for kind in KINDS:
        assert highwater("list", "kafka", "--only", kind).out


def test_a_bug_has_no_kinds(highwater):
    ended = highwater("list", "92", "--only", "bounds")
    assert (ended.status, ended.err.count("\n")) == (Exit.USAGE, 1)
    assert "--only is about protocols" in ended.err
