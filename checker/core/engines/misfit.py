"""A step that assigns what does not fit, told by the function itself: variable, value and line.

The engines on packed states only notice that there is one. They ask the reference engine, which
runs the function in that state and sees which assignment it is.
"""

from __future__ import annotations

from checker.core.engines.reference import ReferenceEngine, State
from model.language.errors import DomainError
from model.language.naming import instance_words
from model.language.protocol import Instance, Model


class MisfitError(DomainError):
    """A value that does not fit, assigned by `instance` in `state`."""

    def __init__(self, words: str, state: State, instance: Instance) -> None:
        super().__init__(words)
        self.state = state
        self.instance = instance


def misfit(model: Model, state: State, instance: Instance) -> MisfitError:
    """What is wrong with the step that some engine says does not fit."""
    words = f"{instance_words(model, instance)} assigns a value outside its variable's domain"
    try:
        ReferenceEngine(model).step(state, instance)
    except DomainError as error:
        words = str(error)
    return MisfitError(words, state, instance)


def with_run(model: Model, error: MisfitError, before: tuple[Instance, ...]) -> DomainError:
    """The same error, with the steps that lead to it."""
    steps = [instance_words(model, step) for step in before]
    after = f"after {'; '.join(steps)}" if steps else "in the initial state"
    return DomainError(f"{error} (step {len(steps) + 1}, {after})")
