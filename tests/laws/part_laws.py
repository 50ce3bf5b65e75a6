"""The laws of cut-offs, held against generated protocols: whoever is left out is not missed.

A law keeps each part of random states in turn, and evaluates there by hand: so many members as are
said to be needed have to do, and any more besides.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable

from checker.core.engines.reference import State
from checker.core.proofs.cutoff.need import NOBODY, RefusedError, Want
from checker.core.proofs.cutoff.witnesses import Witnesses
from model.language.action import Instance
from model.language.graph import Node
from model.language.lifted import Lifted
from model.language.protocol import Model
from tests.laws.generator import Example
from tests.support.parts import Parts
from tests.support.variants import random_states

MEMBERS = 4


def _larger(example: Example) -> Model:
    bounds = {**example.model.bounds, "nodes": MEMBERS}
    return dataclasses.replace(example.model, bounds=bounds, narrow=False)


def few_do(
    count: int, subsets: Iterable[tuple[int, ...]], says_so: Callable[[tuple[int, ...]], bool]
) -> bool:
    """Some members, so many at most, are enough, whoever is kept besides."""
    good = {kept: says_so(kept) for kept in subsets}
    if count == 0:
        return all(good.values())
    return any(
        len(few) <= count and all(good[more] for more in good if set(few) <= set(more))
        for few in good
    )


def says_the_same(parts: Parts, claim: Node, want: Want, count: int, state: State) -> bool:
    """Where a claim is true (`UP`) or false, so many members say so, whoever else stays."""
    everyone = tuple(range(parts.model.extents[parts.family]))
    so = parts.says(claim, state, everyone)
    if so != (want is Want.UP):
        return True
    return few_do(count, parts.subsets(), lambda kept: parts.says(claim, state, kept) == so)


def claims_say_the_same_of_a_part(example: Example) -> None:
    """What is true of a state, or false, is so of each part that has its witnesses."""
    model = _larger(example)
    lifted, witnesses = Lifted.of(model), Witnesses(model, "nodes")
    parts = Parts(model, "nodes", {})
    for prop in (prop for prop in example.properties if not prop.of_steps):
        claim = lifted.now(model.claim(prop.claim))
        for want in (Want.UP, Want.DOWN):
            try:
                count = witnesses.claim(claim, want, 0).count
            except RefusedError:
                continue
            if count >= MEMBERS or witnesses.least > 1:
                continue
            for state in random_states(model, 4, 11):
                assert says_the_same(parts, claim, want, count, state), f"{prop.name}, {state}"


def steps_are_steps_of_a_part(example: Example) -> None:
    """Who takes a step, and the witnesses, take it in each part that has them, to the same end."""
    model = _larger(example)
    lifted, witnesses = Lifted.of(model), Witnesses(model, "nodes")
    actions = {action.name: lifted.total_action(action) for action in model.captured}
    parts = Parts(model, "nodes", actions)
    for instance in model.instances:
        action = actions[instance.action.name]
        try:
            need = sum((witnesses.guard(guard, 0) for guard in action.guards), NOBODY)
            need = sum((witnesses.write(write, 0) for write in action.writes), need)
        except RefusedError:
            continue
        if witnesses.least > 1:
            continue
        of_family = [getattr(p.domain, "family", "") == "nodes" for p in instance.parameters]
        taking = [a for a, one in zip(instance.arguments, of_family, strict=True) if one and a >= 0]
        count = len(set(taking)) + need.count
        for state in random_states(model, 2, 12):
            enabled, after = parts.step(instance, state, tuple(range(MEMBERS)))
            if not enabled or after is None or count >= MEMBERS:
                continue
            is_so = functools.partial(_is_the_step, parts, instance, state, after)
            assert few_do(count, parts.subsets(taking), is_so), f"{instance}: {count}, {state}"


def _is_the_step(
    parts: Parts, instance: Instance, state: State, after: State, kept: tuple[int, ...]
) -> bool:
    """The members that are kept take the step, and come to what the whole state came to."""
    return parts.step(instance, state, kept) == (True, parts.part(after, kept))


PART_LAWS = (claims_say_the_same_of_a_part, steps_are_steps_of_a_part)
