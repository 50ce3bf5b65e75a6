"""In which releases a bug is: by the history of the model's rule for it, or as the catalogue says.

The catalogue names the rule, so that a release is written down once, in the setting's declaration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from checker.lab.catalogue import Bug, Judgement
from model.kafka.settings import KafkaSettings
from model.kafka.settings.modes import variant_of
from model.kafka_group.settings import GroupSettings
from model.kafka_producer.settings import ProducerSettings
from model.kafka_streams.settings import StreamsSettings
from model.kafka_tiered.settings import TieredSettings
from model.kafka_transactions.settings import TransactionSettings
from model.kraft.settings import KRaftSettings
from model.language.declare.history import History, Version, has, series_of, version_of
from model.language.declare.settings import describe

LOOKED_AT = "4.4.0"
"""The newest release in which bugs that no release has fixed were looked for."""


_OLDEST = "0.9.0.0"
"""The first release with clients that are still in use."""


@dataclass(frozen=True)
class Span:
    """The releases with a bug.

    `since` is the first, empty where that is not known; `first` the oldest that was looked at,
    `last` the newest. `fixed` are the releases without it again, the first of each line. Where a
    rule has a history, that counts too: its values of `bad` are the bug.
    """

    since: str
    first: str
    fixed: tuple[str, ...]
    last: str
    history: History | None = None
    variants: Mapping[str, History] | None = None
    bad: tuple[str, ...] = ()

    def holds(self, version: Version, mode: str) -> bool | None:
        """Whether a release has it; `None` where nobody looked."""
        if self.since and version < version_of(self.since):
            return False
        if self.first and version < version_of(self.first):
            return None
        if self.history is not None:
            variant = (self.variants or {}).get(variant_of(version, mode), self.history)
            if variant.value(version) not in self.bad:
                return False
        elif self.fixed and has(version, tuple(map(version_of, self.fixed))):
            return False
        return None if not self.fixed and version > version_of(self.last) else True

    def turns(self, line: Version | None = None) -> tuple[Version, ...]:
        """The releases in which it may have come or gone: of a line, with the line's first."""
        histories = (self.history, *(self.variants or {}).values())
        named = [*(each for h in histories if h for _, since in h.firsts for each in since)]
        named += [each for each in (self.since, self.first, self.last, *self.fixed) if each]
        found = {version_of(each) for each in named}
        if line is None:
            return tuple(sorted({version_of(_OLDEST), *found}))
        return tuple(sorted({line, *(v for v in found if series_of(v) == series_of(line))}))

    def why_not(self, version: Version) -> str:
        """Why a release that has not got it has not."""
        if self.since and version < version_of(self.since):
            return f"begins with {self.since}"
        return f"fixed in {self.fixed_words}" if self.fixed else "not in this release"

    @property
    def fixed_words(self) -> str:
        """The releases without it again, in words; empty if none."""
        *others, last = self.fixed or ("",)
        return f"{', '.join(others)} and {last}" if others else last

    @property
    def words(self) -> str:
        """All releases with it: `4.0.0 to 4.4.0`, or `4.0.0, fixed in 4.3.0`."""
        begins = self.since or self.first
        return (
            f"{begins}, fixed in {self.fixed_words}" if self.fixed else f"{begins} to {self.last}"
        )


_RULES: Mapping[str, type[Any]] = {
    "kafka": KafkaSettings, "kafka_producer": ProducerSettings, "kafka_group": GroupSettings,
    "kafka_tiered": TieredSettings, "kafka_transactions": TransactionSettings,
    "kafka_streams": StreamsSettings, "kraft": KRaftSettings,
}  # fmt: skip
"""Where the rules of each model of the catalogue are declared."""


def span_of(bug: Bug, judged: Judgement) -> Span:
    """The releases with a bug. `KeyError` for a rule that its model has not got."""
    last = judged.last or LOOKED_AT
    if not judged.rule:
        return Span(judged.since, judged.first, judged.fixed, last)
    info = describe(_RULES[bug.model])[judged.rule]
    history = info.history
    if history is None:
        return Span(judged.since, judged.first, (), last)
    bad = judged.bad or tuple(value for value, _ in history.firsts if value != info.mended)
    places = [place for place, (value, _) in enumerate(history.firsts) if value in bad]
    since = judged.since or history.firsts[places[0]][1][0]
    fixed = [releases for _, releases in history.firsts[places[-1] + 1 :]][:1]
    return Span(
        since, judged.first, fixed[0] if fixed else (), last, history, info.variants, bad
    )  # fmt: skip
