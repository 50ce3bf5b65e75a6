"""Commands that need an extra, and environments that have none."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from checker import distribution

ASKED = [
    ("prove", "prove kip320"),
    ("prove", "prove kip320 --unbounded"),
    ("prove", "infer async_isr"),
    ("prove", "explore kip320 --depth 4 --property strong_isr --reduce"),
    ("spark", "explore kip320 --depth 4 --engine spark"),
    ("query", "explore kip320 --depth 4 --store states"),
    ("query", "query states --ready levels"),
    ("query", "graph kip279 --format parquet -o graph"),
    ("audit", "audit ."),
    ("audit", "ask --bootstrap-server localhost:1"),
    ("audit", "affected --bootstrap-server localhost:1"),
    ("browse", "browse kip101"),
    ("mcp", "mcp --folder ."),
]
"""An extra, and a command that asks for it where nothing but the wheel is installed."""


def needed_by_all() -> set[str]:
    """The distributions that the wheel brings along without any extra."""
    found: set[str] = set()
    todo = [distribution.NAME]
    while todo:
        for text in metadata.requires(todo.pop()) or ():
            needed = Requirement(text)
            if needed.name not in found and (
                needed.marker is None or needed.marker.evaluate({"extra": ""})
            ):
                found.add(needed.name)
                todo.append(needed.name)
    return found


def link_what_all_need(packages: Path) -> None:
    """Put that, and nothing else that is installed here, into a folder of packages."""
    for name in needed_by_all():
        dist = metadata.distribution(name)
        tops = {file.parts[0] for file in dist.files or () if file.parts[0] != ".."}
        for top in tops - {"__pycache__"}:
            (packages / top).symlink_to(Path(str(dist.locate_file(top))))
