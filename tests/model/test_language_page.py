"""What the page on the language says of each Python construct is so, and `language_rows.md` too.

A row that works does the same in both engines on random states; one that is refused is so at a line
of the row or of a helper, and what the page says to write instead works.
"""

from __future__ import annotations

import linecache
import re
import sys
import types
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from model.language import Action, Protocol
from model.language.errors import CaptureError
from model.language.protocol import Model
from tests.support.laws import check_engines_agree
from tests.support.variants import random_states

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
MORE = Path(__file__).with_name("language_rows.md")
TEXT = PAGE.read_text(encoding="utf-8") + MORE.read_text(encoding="utf-8")
ROWS = [
    tuple(cell.strip() for cell in line.replace("\\|", "\0").strip("|").split("|"))
    for line in TEXT.splitlines()
    if line.startswith("| `")
]


def code_of(cell: str) -> str:
    lines = [line.strip().strip("`") for line in cell.replace("\0", "|").split("<br>")]
    return "\n".join(lines)


@cache
def page() -> types.ModuleType:
    """The state of the page, and the helpers of both files."""
    module = types.ModuleType("language_page")
    sys.modules[module.__name__] = module
    source = "\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
    exec(compiled(source, "page.py"), module.__dict__)
    return module


def compiled(source: str, name: str) -> Any:
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return compile(source, name, "exec", dont_inherit=True)


def model_of(statements: str) -> Model:
    """A protocol whose one action is these statements."""
    names = dict(vars(page()))
    body = "".join(f"    {line}\n" for line in statements.splitlines())
    exec(compiled(f"def act(s: Lab, a: Node, b: Node) -> None:\n{body}", "row.py"), names)
    protocol = Protocol(
        "lab", "", names["Lab"], (Action("act", names["act"], ""),), (names["NODES"],)
    )
    return protocol.model({"nodes": 3}).wide


def works(statements: str) -> None:
    model = model_of(statements)
    check_engines_agree(model, random_states(model, 60, seed=1))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_of_the_page_says_what_happens(row: tuple[str, str, str]):
    python, verdict, instead = row
    if verdict == "works":
        works(code_of(python))
        return
    assert verdict == "refused"
    with pytest.raises(CaptureError) as caught:
        _ = model_of(code_of(python)).captured
    place = re.match(r"(row|page)\.py:(\d+): .+", str(caught.value))
    assert place is not None, str(caught.value)
    assert place[1] == "page" or 1 <= int(place[2]) < 2 + len(code_of(python).splitlines())
    works(code_of(instead))
