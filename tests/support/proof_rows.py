"""The questions to `prove` that docs/proofs.md tells of, read from proof_rows.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from checker.core.files import read_toml
from checker.lab.experiments.cases import read_case
from checker.lab.experiments.choices import Choice

CASES = Path(__file__).parents[2] / "counterexamples"


@dataclass(frozen=True)
class Row:
    """One question: a choice and properties, in bounds or for all `sizes`; what it should come to.

    With an `action` the proof falls there, at one of `lemmas`; without one it is proved. Without
    `properties` it is about all that is promised. `when` says how often tests ask it.
    """

    words: str
    choice: Choice
    about: tuple[str, ...]
    properties: tuple[str, ...]
    sizes: Sequence[str]
    when: str
    case: str = ""
    action: str = ""
    lemmas: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """What a test calls it."""
        asked = self.properties if len(self.properties) == 1 else ()
        parts = [self.choice.protocol, self.choice.preset, *asked, *self.about, self.words]
        return self.case or ", ".join(filter(None, parts))

    def command(self, sizes: str) -> list[str]:
        """The arguments of `highwater`; sizes in `bounds`, or `all`."""
        asked = ["prove", *self.choice.arguments.split()]
        asked += [word for name in self.properties for word in ("--property", name)]
        return [*asked, *(["--unbounded"] if sizes == "all" else [])]


def proved() -> tuple[Row, ...]:
    """What is proved, in order."""
    return tuple(_row(row) for row in table()["row"])


def falling() -> tuple[Row, ...]:
    """What is not proved, and where it falls."""
    return tuple(_row(row) for row in table()["falls"])


@cache
def table() -> dict[str, Any]:
    """The file."""
    return read_toml(Path(__file__).with_suffix(".toml"))


def _row(row: Mapping[str, Any]) -> Row:
    groups = table()["groups"]
    case = read_case(CASES / row["case"]) if "case" in row else None
    named = row.get("properties", ()) if case is None else [case.violates]
    about = [
        *row.get("settings", ()),
        *([f"{row['faults']}, {row['each']} each"] if "faults" in row else []),
    ]
    return Row(
        row.get("words", ""),
        _choice(row) if case is None else case.broken,
        (*about, *(f"{name}={value}" for name, value in row.get("more", {}).items())),
        tuple(name for known in named for name in groups.get(known, [known])),
        row.get("sizes", ("bounds",)),
        row.get("when", "change"),
        row.get("case", ""),
        row.get("action", ""),
        frozenset(row.get("lemmas", ())),
    )


def _choice(row: Mapping[str, Any]) -> Choice:
    settings = {
        n: v for each in row.get("settings", ()) for n, v in table()["settings"][each].items()
    }
    budgets = {name: row["each"] for name in table()["faults"].get(row.get("faults"), ())}
    chosen = Choice.of({"protocol": row["protocol"], "preset": row.get("preset", "")})
    bounds = budgets | row.get("bounds", {})
    return replace(chosen, settings=settings | row.get("more", {}), bounds=bounds)
