"""Which search the options of `explore` ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checker.commands.ceiling import Ceiling
from checker.commands.engines import ENGINES, Asked, Search
from checker.core.search.limits import Progress
from checker.core.search.question import Options
from model.language.errors import UsageError
from model.language.fairness import changed
from model.language.protocol import Model
from properties import Liveness, Property, liveness_of, promised_properties, split_names


def chosen_search(
    options: dict[str, Any],
    model: Model,
    on_progress: Callable[[Progress], None],
    ceiling: Ceiling,
) -> Search:
    """The search, ready to run; `UsageError` for options that do not go together.

    Whatever can be wrong with Java or the store is said here too.
    """
    engine = ENGINES[options["engine"]]
    engine.refuse(options)
    if options["resume"] and not (options["store"] or options["spill"]):
        raise UsageError("--resume goes with --store DIR, which names what to go on from")
    _check_spill(options)
    properties, promises = chosen_properties(model, options["properties"], options["liveness"])
    if options["fair"] and not promises:
        raise UsageError("--fair goes with --liveness, or with a liveness property by name")
    engine.refuse({"liveness": promises})
    for name, given in (
        *((name, options[name]) for name in ("store", "spill")),
        ("liveness", promises),
    ):
        if options["reduce"] and given:
            raise UsageError(f"--reduce is for properties of states and steps: leave out --{name}")
    for name in ("store", "spill"):
        if promises and options[name]:
            raise UsageError(
                f"liveness keeps the state graph in memory, not in a store: leave out --{name}"
            )
    fairness = changed(model.protocol.fairness, options["fair"]) if promises else ()
    limits = ceiling.limits(options["depth"], options["max_states"])
    chosen = ("workers", "exact", "keep_going", "deadlock", "symmetry", "cross_check")
    how = Options(**{name: options[name] for name in chosen})
    return engine.search(
        Asked(model, properties, limits, how, on_progress, promises, fairness, options)
    )


def _check_spill(options: dict[str, Any]) -> None:
    """Raise `UsageError` for what does not go with a search beyond memory, or only with one."""
    if not options["spill"]:
        if options["max_disk"] is not None:
            raise UsageError("--max-disk goes with --spill DIR, which says where the disk is used")
        return
    if options["max_memory"] is None:
        raise UsageError("--spill goes with --max-memory SIZE: beyond it the disk is used")
    for name, why in (
        ("store", "keeps what a search needs, not whole states to query"),
        ("exact", "keeps fingerprints on disk, not whole states"),
    ):
        if options[name]:
            raise UsageError(f"--spill {why}: leave out --{name}")


def chosen_properties(
    model: Model, names: Sequence[str], liveness: bool
) -> tuple[tuple[Property, ...], tuple[Liveness, ...]]:
    """What is asked of states and steps, and of runs for ever.

    Without names, all that the model promises, of runs only with `liveness`.
    """
    of_states, promises = split_names(model.protocol, names)
    properties = () if names and not of_states else promised_properties(model, of_states)
    if liveness and not promises:
        promises = tuple(p for p in liveness_of(model.protocol) if p.promised(model))
        if not promises:
            raise UsageError(f"{model.protocol.name} has no liveness properties")
    return properties, promises
