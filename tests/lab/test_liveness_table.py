"""The table of liveness by preset."""

from __future__ import annotations

from dataclasses import replace

from checker.core.search.limits import Limits
from checker.core.search.question import Options
from checker.lab.experiments.liveness_table import as_markdown, rows_of
from model.language.fairness import changed
from model.protocols import PROTOCOLS
from properties import choose_liveness

SMALL = {"log_size": 1, "max_records": 1, "max_leader_epoch": 0}


def rows(preset, fair=()):
    protocol = PROTOCOLS["kip320"]
    promises = [choose_liveness(protocol, "records_commit")]
    fairness = changed(protocol.fairness, fair)
    model = protocol.model(SMALL)
    return list(rows_of(preset, model, promises, fairness, Limits(), Options()))


def test_presets_of_which_the_same_is_said_share_a_line():
    first = rows("a-1")
    same, other = ([replace(row, preset=name) for row in first] for name in ("a-1.1", "b-2"))
    unfair = rows("a-3", ["leader_advance_high_watermark=none"])
    last = [replace(row, preset="a-4") for row in first]
    told = as_markdown([*first, *same, *other, *unfair, *last]).splitlines()[2:]
    assert [line.split(" | ")[1] for line in told] == ["a-1 to a-1.1, b-2, a-4", "a-3"]
    assert "exhausted" in told[0] and "violated" in told[1]


def test_without_presets_there_is_no_column_for_them():
    head, _, row = as_markdown(rows("")).splitlines()
    assert head.count("|") == row.count("|") == 5
