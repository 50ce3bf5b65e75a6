"""Names that other languages take: those of the model, made of letters, digits and underscores."""

from __future__ import annotations

import re
from collections.abc import Iterable

from model.language.naming import cell_path, member_names
from model.language.protocol import Cell, Model

_TEMPORARY = re.compile(r"[tn][0-9]+")
"""What parts of expressions are called."""


class Identifiers:
    """Gives names that are not given yet, and no words of the language."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self._taken = set(reserved)

    def fresh(self, words: str) -> str:
        """A name like `words` that nothing else has."""
        name = re.sub(r"_?[^A-Za-z0-9_]+", "_", words).strip("_") or "x"
        if name[0].isdigit() or name.startswith(("WF_", "SF_")):
            name = f"x_{name}"
        while name in self._taken or _TEMPORARY.fullmatch(name):
            name += "_"
        self._taken.add(name)
        return name

    def of_cell(self, model: Model, cell: Cell) -> str:
        """Such as `replicas_r2_log_0_epoch`."""
        return self.fresh(cell_path(model, cell))

    def of_members(self, model: Model) -> dict[str, list[str]]:
        """The names of the members of each family that renaming may permute, in order."""
        return {
            name: [self.fresh(member) for member in member_names(model, name)]
            for name, index_set in model.schema.index_sets.items()
            if index_set.symmetric
        }
