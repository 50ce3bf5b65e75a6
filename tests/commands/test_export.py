"""`highwater export`: what is written where, what is said of it, and what is refused."""

from __future__ import annotations

import pytest

from checker.core.exits import Exit
from tests.support.own import write_counter
from tests.support.read_promela import ReadPromela
from tests.support.read_tla import ReadTla

TINY = ("--replicas", "2", "--log-size", "1", "--max-records", "1", "--max-leader-epoch", "1")
KIP320 = ("export", "kip320", *TINY)


def test_both_languages_go_to_standard_output(highwater):
    promela = highwater(*KIP320, "--to", "promela")
    tla = highwater(*KIP320, "--to", "tla")
    assert (promela.status, promela.err, tla.status, tla.err) == (0, "", 0, "")
    assert ReadPromela(promela.out).options
    assert ReadTla(tla.out).name == "kip320"
    assert tla.out.rstrip().endswith("CHECK_DEADLOCK FALSE")


def test_files_are_written_and_a_configuration_beside_a_module(highwater, tmp_path):
    done = highwater(*KIP320, "--to", "tla", "-o", tmp_path / "new" / "Kip.tla")
    assert (done.status, done.out) == (0, "")
    assert done.err.startswith("wrote ") and done.err.endswith("steps, 4 properties\n")
    assert ReadTla((tmp_path / "new" / "Kip.tla").read_text()).name == "Kip"
    assert "INVARIANT weak_isr" in (tmp_path / "new" / "Kip.cfg").read_text()
    done = highwater(*KIP320, "--to", "promela", "-o", tmp_path / "m.pml", "--quiet")
    assert (done.status, done.out, done.err) == (0, "", "")
    assert ReadPromela((tmp_path / "m.pml").read_text()).options


def test_properties_by_name_are_those_that_are_exported(highwater):
    done = highwater(*KIP320, "--to", "tla", "--property", "strong_isr", "--json").json
    assert (done["to"], done["properties"], done["states"]) == ("tla", ["strong_isr"], None)
    module, configuration = done["text"]
    assert "INVARIANT strong_isr\n" in configuration and "weak_isr" not in module


def test_the_header_says_the_command_and_with_count_how_many_states(highwater, tmp_path):
    counted = highwater("explore", "kip320", *TINY, "--json").json["distinct_states"]
    done = highwater(*KIP320, "--to", "promela", "--count", "--json", "-o", tmp_path / "m.pml")
    assert done.json["states"] == counted
    assert done.json["output"] == [str(tmp_path / "m.pml")]
    text = (tmp_path / "m.pml").read_text()
    assert f"States to expect: {counted:,}" in text
    assert f"highwater export kip320 {' '.join(TINY)} --to promela --count\n" in text
    assert str(tmp_path) not in text


def test_a_protocol_of_ones_own_is_exported(highwater, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = write_counter(tmp_path)
    assert ReadPromela(highwater("export", file, "--to", "promela").out).options
    assert ReadTla(highwater("export", file, "--to", "tla").out).steps


@pytest.mark.parametrize(
    "options, words",
    [
        (("--to", "tla", "-o", "model.pml"), "write NAME.tla"),
        (("--to", "tla", "-o", "9.tla"), "'9' names no module of TLA+"),
        (("--to", "tla", "-o", "a-b.tla"), "'a-b' names no module of TLA+"),
        (("--to", "promela", "--property", "records_commit"), "is a liveness property"),
        (("--to", "promela", "--property", "a_record_commits"), "is a witness"),
        ((), "Missing option '--to'"),
    ],
)
def test_what_cannot_be_exported_is_told(highwater, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = highwater(*KIP320, *options)
    assert (done.status, done.out) == (2, "")
    assert words in done.err and done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_beside_is_not_replaced_but_by_another_export(highwater, tmp_path):
    command = ("export", "truncate_to_high_watermark", "--to", "tla", "--no-cross-check", "-o")
    mine, made = tmp_path / "mine.cfg", tmp_path / "made.tla"
    mine.write_text("[settings]\n")
    ended = highwater(*command, tmp_path / "mine.tla")
    assert ended.status == Exit.USAGE and "would replace" in ended.err
    assert mine.read_text() == "[settings]\n" and not (tmp_path / "mine.tla").exists()
    assert highwater(*command, made).status == Exit.OK == highwater(*command, made).status
