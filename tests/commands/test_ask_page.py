"""The ten questions of `docs/ask.md` have the answers that its table says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from checker.core.exits import Exit
from tests.support.tiers import nightly

PAGE = (Path(__file__).parents[2] / "docs" / "ask.md").read_text()
COLUMNS = (
    "acknowledged records", "what consumers have read", "a copy on some disk", "a leader",
    "writes with acks=all",
)  # fmt: skip
HEAD = ("", "acknowledged", "read", "on a disk", "a leader", "writes", "the cheapest change")


def commands() -> list[str]:
    """The command of each question."""
    section = PAGE.split("\n## Ten questions\n")[1].split("\n## ")[0]
    found = re.findall(r"^    (highwater ask (?:.*\\\n)*.*)", section, re.MULTILINE)
    return [re.sub(r"\s*\\\n\s*", " ", each) for each in found]


def row(number: int, data: dict[str, Any]) -> str:
    """The answer as a row of the table: of an upgrade, that of each stage, if they differ."""
    cells = []
    for name in COLUMNS:
        said = [
            cell["words"] + (f"; {cell['lasting']['words']}" if cell["lasting"] else "")
            for part in data["parts"]
            for cell in (*part["losses"], *part["stops"])
            if cell["about"] == name
        ]
        cells.append(" / ".join(dict.fromkeys(said)))
    first = data["changes"][0] if data["changes"] else None
    if first is not None and first["tier"] == "unreleased":
        cells.append(f"none: only {first['change']}, in no release")
    else:
        cost = first["cost"].removeprefix("costs availability: ") if first else ""
        cells.append(f"`{first['change']}`: {cost}" if first else "")
    return f"| {number} | {' | '.join(cells)} |"


def table() -> list[str]:
    told = re.search(r"<!-- answers -->\n(.*?)<!-- end of answers -->", PAGE, re.DOTALL)
    assert told is not None
    return told[1].strip().splitlines()


def test_there_are_ten_questions_and_ten_answers():
    assert len(commands()) == 10
    head, line, *rows = table()
    assert head == f"| {' | '.join(HEAD)} |".replace("|  |", "| |")
    assert set(line) == {"|", "-"} and len(rows) == 10


LONG = set(range(2, 11))
"""Questions whose searches take half a minute or more; the first is asked in the same way."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [nightly("half a minute each", n) if n in LONG else n for n in range(1, 11)]
)
def test_a_question_has_its_answer(highwater, number):
    _, _, *arguments = shlex.split(commands()[number - 1])
    ended = highwater("ask", *arguments, "--max-seconds", "3600", "--json")
    data = ended.json
    assert ended.status == (Exit.VIOLATED if data["lossy"] else Exit.OK)
    assert data["decided"] and data["all_tried"]
    assert row(number, data) == table()[number + 1]
