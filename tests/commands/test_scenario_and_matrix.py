"""`scenario` and `matrix` as commands: what they print, and with which exit status they end."""

from __future__ import annotations

import pytest

from checker.core.exits import Exit

GOOD = """
title = "one record"
[[run]]
name = "sent"
protocol = "kafka"
events = '''
producer_send b0
expect b0.log = 0
'''
"""
MATRIX = """
title = "tiny"
protocol = "kafka"
[bounds]
max_leader_epoch = 1
preferred_elections = 0
[[row]]
name = "acks=1"
settings = { "acks" = "1" }
[[column]]
name = "a crash"
property = "acknowledged_records_survive"
fails = "lost"
"""


def test_a_scenario_is_shown_with_every_state(highwater, tmp_path):
    (tmp_path / "story.toml").write_text(GOOD)
    ended = highwater("scenario", tmp_path / "story.toml")
    assert ended.status == Exit.OK
    assert "one record: sent" in ended.out
    assert "the producer sends its next record, and b0 appends it" in ended.out
    assert "everything is as expected" in ended.out


def test_what_is_shown_fits_80_columns(highwater):
    out = highwater("scenario", "everything_down").out
    assert max(map(len, out.splitlines())) <= 80


def test_all_scenarios_of_a_folder_are_checked(highwater, tmp_path):
    (tmp_path / "story.toml").write_text(GOOD)
    ended = highwater("scenario", "--dir", tmp_path, "--json")
    assert ended.status == Exit.OK
    assert ended.json["runs"] == [{"scenario": "story", "run": "sent", "events": 1}]


def test_a_scenario_that_does_not_hold_is_rejected_in_one_line(highwater, tmp_path):
    (tmp_path / "story.toml").write_text(GOOD.replace("= 0\n", "= 1\n"))
    ended = highwater("scenario", tmp_path / "story.toml")
    assert ended.status == Exit.REJECTED
    assert "b0.log is 0, not 1" in ended.err
    assert ended.err.count("\n") == 1


def test_an_unknown_scenario_is_a_usage_error(highwater, tmp_path):
    (tmp_path / "story.toml").write_text(GOOD)
    ended = highwater("scenario", "--dir", tmp_path, "stroy")
    assert ended.status == Exit.USAGE
    assert "did you mean 'story'?" in ended.err


@pytest.mark.slow
def test_a_matrix_is_printed_written_and_resumed(highwater, tmp_path, monkeypatch):
    monkeypatch.setattr("checker.commands.progress.PLAIN_AFTER", 0)
    spec, store, page = tmp_path / "spec.toml", tmp_path / "results", tmp_path / "page.md"
    spec.write_text(MATRIX)
    ended = highwater("matrix", spec, "--store", store, "--write", page)
    assert ended.status == Exit.OK
    assert "lost in 4 steps" in " ".join(ended.out.split())
    assert "1 of 1: kafka --set acks=1 " in ended.err
    assert ended.out.endswith("1 of 1 searches checked against the reference engine\n")
    assert "[lost in 4 steps](#trace-1)" in page.read_text()
    ended = highwater("matrix", spec, "--store", store, "--json")
    assert (ended.status, ended.err) == (Exit.OK, "")
    (cell,) = ended.json["cells"]
    assert (cell["words"], cell["verdict"], cell["depth"]) == ("lost in 4 steps", "violated", 4)
    assert cell["cross_check"]["claims"] == 2  # the property and its premise
    assert cell["cross_check"]["tried"] > cell["cross_check"]["taken"] > 100


@pytest.mark.slow
def test_a_matrix_that_compares_nothing_says_so(highwater, tmp_path):
    (tmp_path / "spec.toml").write_text(MATRIX)
    arguments = "matrix", tmp_path / "spec.toml", "--store", tmp_path / "results"
    (cell,) = highwater(*arguments, "--no-cross-check", "--json").json["cells"]
    assert (cell["words"], cell["cross_check"]) == ("lost in 4 steps", None)
    ended = highwater(*arguments)
    assert ended.out.endswith("0 of 1 searches checked against the reference engine\n")


@pytest.mark.slow
def test_a_stored_matrix_is_shown_without_searching(highwater, tmp_path):
    spec, page = tmp_path / "spec.toml", tmp_path / "page.md"
    spec.write_text(MATRIX)
    ended = highwater("matrix", spec, "--stored", "--write", page)
    assert (ended.status, page.exists()) == (Exit.LIMIT, False)
    assert "not computed" in ended.out
    store = ("--store", tmp_path / "spec.jsonl", "--no-cross-check")
    assert highwater("matrix", spec, *store).status == Exit.OK
    ended = highwater("matrix", spec, "--stored", "--write", page)
    assert (ended.status, ended.err) == (Exit.OK, "")
    assert "lost in 4 steps" in page.read_text()
    picture = tmp_path / "page.svg"
    assert highwater("matrix", spec, "--stored", "--write", picture).status == Exit.OK
    assert ">L 4</text>" in picture.read_text() and "lost in 4 steps" in picture.read_text()


def test_a_matrix_that_is_not_well_formed_is_a_usage_error(highwater, tmp_path):
    (tmp_path / "spec.toml").write_text("title = 'nothing'")
    ended = highwater("matrix", tmp_path / "spec.toml")
    assert ended.status == Exit.USAGE
    assert "no 'row'" in ended.err


def test_symmetry_is_refused_where_a_member_has_a_name(highwater):
    ended = highwater("explore", "async_isr", "--symmetry")
    assert ended.status == Exit.USAGE
    assert "controller_shrink_isr names r0" in ended.err
    assert highwater("explore", "kip320", "--symmetry", "--depth", 3).status == Exit.OK
