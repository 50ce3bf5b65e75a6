"""The code in the documentation runs as it stands."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def test_the_protocol_of_the_guide_runs_and_has_the_counts_that_it_states(monkeypatch):
    module = types.ModuleType("two_phase_commit")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    source = blocks("writing_a_protocol.md")
    assert any("assert" in block for block in source)
    for block in source:
        exec(compile(block, "writing_a_protocol.md", "exec"), module.__dict__)


def test_the_protocol_of_the_guide_is_shorter_than_sixty_lines():
    assert len(blocks("writing_a_protocol.md")[0].splitlines()) < 60


def test_the_table_of_rooms_names_each_module_of_the_broker_model():
    page = (DOCS / "architecture.md").read_text()
    section = page.split("\n## model/kafka\n")[1].split("\n## ")[0]
    rooms = {path.name for path in (DOCS.parent / "model" / "kafka").glob("[a-z]*.py")}
    named = re.findall(r"`(\w+\.py)`", section.split("`properties/kafka`")[0])
    assert sorted(named) == sorted(rooms)
