"""How soon a wrong model is noticed: one fix the other way, and walks until Kafka disagrees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from checker.kafka.conformance.compare import Difference, Tally, compare_walks
from checker.kafka.conformance.harness import Harness
from checker.kafka.conformance.plan import models, settings_of
from checker.kafka.conformance.walks import Walker

WRONG: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "truncation": ("high_watermark", {}),
    "join.isr.from.epoch.start": ("false", {}),
    "fetch.fenced.by.epoch": ("false", {}),
    "diverging.fetch.leaves.leo": ("false", {}),
    "diverging.answer.hw.ignored": ("false", {}),
    "answer.matches.request.epoch": ("", {"fetch.answers": "in_flight"}),
    "maximal.isr": ("false", {}),
    "isr.unfenced.brokers.only": ("false", {}),
    "broker.epoch.checked": ("false", {}),
    "hw.frozen.below.min.isr": ("", {"min.insync.replicas": "2"}),
    "eligible.leader.replicas": ("", {}),
    "last.known.leader.election": ("", {}),
    "reset.follower.leo.every.epoch": ("true", {}),
    "pending.isr.survives.image": ("true", {"isr.answer.apart": "true"}),
    "assignment.keeps.elr": ("", {}),
    "min.isr.change.keeps.elr": ("true", {}),
    "registration.counts.directories": ("true", {}),
    "quick.bounce": ("followers", {}),
    "leader.enters.epoch": ("", {"epoch.cache": "kept"}),
    "truncation.at.end.clears.epochs": ("", {"epoch.cache": "kept"}),
}
"""Settings by what is wrong for them (empty: the other value), with what they need to matter."""

WALKS_A_ROUND = 48


@dataclass(frozen=True)
class Noticed:
    """A wrong setting, and after how many states that agree Kafka disagreed; `None`: not yet."""

    setting: str
    value: str
    states: int | None
    compared: int
    difference: Difference | None


def wrong_value(setting: str, version: str) -> str:
    """A value of the setting that the release does not have."""
    value, _ = WRONG[setting]
    return value or {"true": "false", "false": "true"}[str(settings_of(version)[setting])]


def sensitivity(
    version: str,
    seed: int,
    most: int,
    steps: int,
    chosen: Sequence[str] = (),
    tell: Callable[[str], None] = lambda _: None,
) -> list[Noticed]:
    """For each setting, walks of a model that is wrong in it, until `most` states are compared."""
    found = []
    with Harness(version) as harness:
        for setting in chosen or WRONG:
            one = _noticed(harness, setting, seed, most, steps)
            states = "not" if one.states is None else one.states
            tell(f"{version}: {setting}={one.value}: {states}")
            found.append(one)
    return found


def _noticed(harness: Harness, setting: str, seed: int, most: int, steps: int) -> Noticed:
    version, value = harness.version, wrong_value(setting, harness.version)
    wrong = {setting: value, **WRONG[setting][1]}
    walkers = [
        Walker(model, version, seed + i) for i, model in enumerate(models(version, {}, wrong)[:4])
    ]
    tally = Tally(version)
    while tally.compared < most:
        for walker in walkers:
            compare_walks(harness, walker.projection, walker.walks(WALKS_A_ROUND, steps), tally)
            if kinds := tally.unknown:
                first = min((tally.shortest(kind)[0] for kind in kinds), key=lambda d: d.step)
                return Noticed(setting, value, tally.agreed, tally.compared, first)
    return Noticed(setting, value, None, tally.compared, None)
