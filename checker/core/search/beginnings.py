"""States to begin runs from, spread over what a model can do, each with a run that leads there.

Runs that draw each step blindly see the same few states again and again, and what is rare needs
several rare steps in a row. So states are looked for beforehand, by narrow searches. The model
alone decides, so whoever has the model has the same list.
`docs/decisions/0040-stateful-testing.md` has the measurements.
"""

from __future__ import annotations

from contextlib import suppress

from checker.core.engines.compiled import Expander
from checker.core.engines.vectorised import VectorisedEngine
from checker.core.search.narrow import NarrowSearch, Width
from checker.core.search.question import DEFAULT_COMPILE_AFTER
from model.language.errors import DomainError
from model.language.protocol import Instance, Model

KEPT = 2_500
"""How many states of a level are kept."""
LEVELS = 40


class Beginnings:
    """A list of states, the initial one first, as the runs that lead to them from there.

    Two searches are made: one that keeps states of rare profiles, and one that keeps half of its
    states whatever their profiles are. `kept` states a level at most, each. Where a value does not
    fit, a search ends: whoever runs on finds that.
    """

    def __init__(self, model: Model, kept: int = KEPT, levels: int = LEVELS) -> None:
        engine = VectorisedEngine(model)
        expand = Expander(engine, None, DEFAULT_COMPILE_AFTER)
        self._model = model
        self._searches = []
        for by_profile in (kept, kept // 2):
            search = NarrowSearch(engine, Width(kept, by_profile), 0, expand=expand)
            with suppress(DomainError):
                search.run(levels)
            self._searches.append(search)

    def __len__(self) -> int:
        return sum(search.count for search in self._searches)

    def run(self, number: int) -> tuple[Instance, ...]:
        """The steps from the initial state to state `number`, counted from 0."""
        for search in self._searches:
            if number < search.count:
                return tuple(self._model.instances[k] for k in search.path(number))
            number -= search.count
        raise IndexError("there are fewer states to begin from")
