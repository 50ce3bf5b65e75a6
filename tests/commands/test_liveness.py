"""Liveness on the command line: what is asked, refused, shown, stored, and how commands end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from checker.commands.liveness_command import BEGIN, END
from checker.telling.report.pages import with_part
from model.ladder import LADDER
from properties import liveness_of
from tests.support.tiers import nightly

PAGE = Path(__file__).parents[2] / "docs" / "liveness.md"
SMALL = ("--log-size", "1", "--max-records", "1", "--max-leader-epoch", "0")
ASKED = ("explore", "kip320", *SMALL, "--property", "records_commit", "--quiet")
UNFAIR = ("--fair", "leader_advance_high_watermark=none")


def test_a_fair_run_that_never_does_what_it_must_is_shown_and_ends_with_13(highwater, tmp_path):
    done = highwater(*ASKED, *UNFAIR, "--trace-dir", str(tmp_path))
    assert done.status == 13
    assert "records_commit  violated on a way of" in done.out
    assert "The run stops in state" in done.out
    assert done.out.rstrip().endswith("records_commit: a fair run never does what it must")
    assert all(len(line) <= 80 for line in done.out.splitlines() if "trace saved" not in line)
    (path,) = tmp_path.iterdir()
    replayed = highwater("replay", str(path))
    assert replayed.status == 0
    assert "the loop, twice around, shows what the trace claims" in replayed.out


def test_what_every_fair_run_does_is_exhausted(highwater):
    done = highwater(*ASKED)
    assert done.status == 0
    assert "records_commit  exhausted" in done.out


def test_liveness_is_said_as_data(highwater):
    data = json.loads(highwater(*ASKED, *UNFAIR, "--json").out)
    found = data["liveness"]["records_commit"]
    assert (data["verdict"], found["verdict"], found["member"]) == ("violated", "violated", "r0")
    assert found["lasso"]["loop"] == found["lasso"]["depth"]
    assert "leader_advance" not in " ".join(found["fairness"])


def test_safety_alone_says_nothing_of_liveness(highwater):
    done = highwater("explore", "kip320", *SMALL, "--quiet", "--json")
    assert json.loads(done.out)["liveness"] == {}


def test_liveness_beside_safety_has_both(highwater):
    done = highwater("explore", "kip320", *SMALL, "--liveness", "--quiet", "--json")
    data = json.loads(done.out)
    assert len(data["liveness"]) == 3
    assert "weak_isr" in data["properties"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((*ASKED, "--symmetry"), "not checked with --symmetry"),
        ((*ASKED, "--engine", "spark"), "--liveness goes with --engine local"),
        ((*ASKED, "--engine", "reference"), "--liveness goes with --engine local"),
        ((*ASKED, "--store", "x"), "leave out --store"),
        ((*ASKED, "--fair", "leader=weak"), "no action of kip320 is called 'leader'"),
        ((*ASKED, "--fair", "leader_write"), "write ACTION=weak"),
        ((*ASKED, "--fair", "leader_write(x)=weak"), "no parameter of leader_write"),
        (("explore", "kip320", "--fair", "leader_write=weak"), "--fair goes with --liveness"),
        (("explore", "async_isr", "--liveness"), "async_isr has no liveness properties"),
        (("prove", "kip320", "--property", "records_commit"), "is a liveness property"),
        (("simulate", "kip320", "--property", "records_commit"), "is a liveness property"),
        (("liveness", "kip320", "--property", "weak_isr"), "valid are records_commit, "),
        (("liveness", "kafka", "--preset", "4.1", "--every-preset"), "do not go together"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(options, words, highwater):
    done = highwater(*options)
    assert done.status == 2
    assert words in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_the_least_fairness_is_told_and_written(highwater, tmp_path):
    page = tmp_path / "page.md"
    begin, end = "<!-- liveness kip320: begin -->", "<!-- liveness kip320: end -->"
    page.write_text(f"before\n{begin}\n{end}\nafter\n")
    asked = ("liveness", "kip320", *SMALL, "--property", "records_commit", "--write", str(page))
    done = highwater(*asked, "--json")
    assert done.status == 0
    (row,) = json.loads(done.out)["rows"]
    assert row["declared_suffices"]
    assert "leader_advance_high_watermark=weak" in row["least_fairness"]
    assert "| `records_commit` | exhausted |" in page.read_text()
    refused = highwater("liveness", "kip101", *SMALL, "--write", str(page))
    assert refused.status == 2
    assert "the page needs one line <!-- liveness kip101: begin -->" in refused.err


TOLD = re.findall(r"<!-- liveness (\w+): begin -->", PAGE.read_text())
COMMAND = "highwater liveness {}( [^`]*)--write docs/liveness.md"
"""How the page says that a table is made, where not at the default sizes."""

LONG = {
    "kafka": "every preset of the broker model is searched: twenty processor minutes",
    "kraft": "every preset of the controllers' model is searched",
    "truncate_to_high_watermark": "a third of a minute for another rung",
    "kip279": "a third of a minute for another rung",
    "kip320_first_try": "another rung",
    "kip320": "another rung",
    "kip101": "another rung; what a table says of each property is held by cheaper tests",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "protocol", [nightly(LONG[name], name) if name in LONG else name for name in TOLD]
)
def test_the_page_has_each_table_that_its_command_writes(protocol, highwater, tmp_path):
    asked = re.search(COMMAND.format(protocol), " ".join(PAGE.read_text().split()))
    check_is_written(highwater, tmp_path, protocol, *(asked[1].split() if asked else ()))


def check_is_written(highwater, folder, *asked):
    """The command writes the page's own table where it was taken out."""
    begin, end = (mark.format(asked[0]) for mark in (BEGIN, END))
    text = PAGE.read_text()
    page = folder / "liveness.md"
    page.write_text(with_part(text, begin, end, ""))
    assert page.read_text() != text
    highwater("liveness", *asked, "--quiet", "--write", str(page))
    assert page.read_text() == text


def test_each_rung_that_promises_something_is_told_of():
    ladder = [protocol.name for protocol in LADDER if liveness_of(protocol)]
    assert ["kafka", "kraft", "kafka_tiered", "kafka_streams", *ladder] == TOLD


def test_nothing_of_the_least_fairness_can_be_spared(highwater):
    asked = ("liveness", "kip320", *SMALL, "--property", "records_commit", "--json")
    (row,) = json.loads(highwater(*asked).out)["rows"]
    for one in row["least_fairness"]:
        action = one.split("=")[0].split("(")[0]
        assert highwater(*ASKED, "--fair", f"{action}=none").status == 13
