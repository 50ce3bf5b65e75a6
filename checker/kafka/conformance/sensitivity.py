"""How soon a wrong model is noticed: one fix the other way, and walks until Kafka disagrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from checker.kafka.conformance.compare import Difference, Tally, compare_walks
from checker.kafka.conformance.compared import BROKERS, Compared
from checker.kafka.conformance.process import Runs
from checker.kafka.conformance.walks import Walker

WALKS_A_ROUND = 48


@dataclass(frozen=True)
class Noticed:
    """A wrong setting, and after how many states that agree Kafka disagreed; `None`: not yet."""

    setting: str
    value: str
    states: int | None
    compared: int
    difference: Difference | None


def wrong_value(setting: str, version: str, of: Compared = BROKERS) -> str:
    """A value of the setting that the release does not have."""
    value, _ = of.wrong[setting]
    return value or {"true": "false", "false": "true"}[str(of.settings_of(version)[setting])]


def sensitivity(
    version: str,
    seed: int,
    most: int,
    steps: int,
    chosen: Sequence[str] = (),
    tell: Callable[[str], None] = lambda _: None,
    of: Compared = BROKERS,
) -> list[Noticed]:
    """For each setting, walks of a model that is wrong in it, until `most` states are compared."""
    found = []
    with of.classes(version) as harness:
        for setting in chosen or of.wrong:
            one = _noticed(harness, of, setting, seed, most, steps)
            states = "not" if one.states is None else one.states
            tell(f"{version}: {setting}={one.value}: {states}")
            found.append(one)
    return found


def _noticed(
    harness: Runs, of: Compared, setting: str, seed: int, most: int, steps: int
) -> Noticed:
    version, value = harness.version, wrong_value(setting, harness.version, of)
    wrong = {setting: value, **of.wrong[setting][1]}
    walkers = [
        Walker(model, version, seed + i)
        for i, model in enumerate(of.models(version, {}, wrong, None)[:4])
    ]
    tally = Tally(version)
    while tally.compared < most:
        for walker in walkers:
            compare_walks(harness, walker.projection, walker.walks(WALKS_A_ROUND, steps), tally)
            if kinds := tally.unknown:
                first = min((tally.shortest(kind)[0] for kind in kinds), key=lambda d: d.step)
                return Noticed(setting, value, tally.agreed, tally.compared, first)
    return Noticed(setting, value, None, tally.compared, None)
