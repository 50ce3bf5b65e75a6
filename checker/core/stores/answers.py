"""What the levels of a store say: how far they answer a question, and the result.

Each level holds the totals up to it, so the last one that is needed says everything.
"""

from __future__ import annotations

from collections.abc import Sequence

from checker.core.engines.layout import Layout
from checker.core.search.findings import Findings, Steps, spread, tell
from checker.core.search.fingerprints import FINGERPRINT_BITS, collision_probability
from checker.core.search.question import Question
from checker.core.search.symmetry import Symmetry
from checker.core.stores.level_files import find_path
from checker.core.stores.store import Level, Store
from checker.core.verdict import Exploration
from model.language.protocol import Model


def levels_needed(levels: Sequence[Level], question: Question) -> Sequence[Level]:
    """The levels up to the one that answers; all, if none does. A store may hold more of them."""
    for count, level in enumerate(levels, 1):
        if question.is_answered(level):
            return levels[:count]
    return levels


def findings_of(levels: Sequence[Level], instances: int) -> Findings:
    """What was known after the last of these levels, which begin with the initial state's."""
    last = levels[-1]
    return Findings(
        spread(last.enabled, instances),
        spread(last.new, instances),
        [level.size for level in levels if level.size],
        last.size,
        last.transitions,
        dict(last.violated),
        dict(last.reached),
        set(last.premises),
        last.deadlock,
        last.seconds,
    )


def exploration_of(store: Store, model: Model, question: Question, engine: str) -> Exploration:
    """What the levels of a store say, with traces followed back in it."""
    findings = findings_of(levels_needed(store.levels, question), len(model.instances))
    options = store.manifest.options
    symmetry, exact = options.get("symmetry", False), options.get("exact", False)
    layout = Layout(model)
    result = Exploration(model, question.properties, engine, symmetry)
    renamings = Symmetry(model, question.properties, layout) if symmetry else None

    def concrete(steps: Steps) -> Steps:
        return steps if renamings is None else renamings.concrete(model.initial_state, steps)

    tell(result, findings, lambda depth, number: find_path(store, depth, number), concrete)
    result.fingerprint_bits = FINGERPRINT_BITS * (layout.words if exact else 1)
    result.collision_probability = 0.0 if exact else collision_probability(sum(result.levels))
    return result


def conclude(store: Store, result: Exploration) -> None:
    """Note the verdicts in the store."""
    store.conclude({
        "engine": result.engine,
        "verdict": str(result.verdict),
        "stopped": result.stopped or None,
        "depth": result.depth,
        "distinct_states": result.distinct_states,
        "properties": {prop.name: str(result.verdict_on(prop)) for prop in result.properties},
    })  # fmt: skip
