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


def test_presets_of_which_the_same_is_said_one_after_the_other_share_a_line():
    first = rows("first")
    again, other = ([replace(row, preset=name) for row in first] for name in ("second", "fourth"))
    unfair = rows("third", ["leader_advance_high_watermark=none"])
    told = as_markdown([*first, *again, *unfair, *other]).splitlines()[2:]
    assert [line.split(" | ")[0] for line in told] == ["| first, second", "| third", "| fourth"]
    assert told[0].replace("first, second", "fourth") == told[2]
    assert "violated" in told[1] and "exhausted" in told[2]
