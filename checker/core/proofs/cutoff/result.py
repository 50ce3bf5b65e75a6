"""What a proof for any number of members says, and of which bound it can."""

from __future__ import annotations

from dataclasses import dataclass, field

from checker.core.proofs.proof import Proof
from model.language.declare.domains import Integers
from model.language.errors import UsageError
from model.language.protocol import Model


@dataclass
class CutOff(Proof):
    """A proof for any number of members of a family, from `members` on, within the other bounds.

    `bound` is the bound that says how many there are. `cut_off` is how many members the largest
    obligation was asked with, and `sizes` says so of each. `refused` are lemmas and guards that a
    part does not show, with why: those were not assumed.
    """

    bound: str = ""
    members: int = 0
    cut_off: int = 0
    sizes: dict[tuple[str, str], int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def bounds(self) -> dict[str, int]:
        """The bounds that the proof is about: all but how many members there are."""
        return {name: size for name, size in self.model.bounds.items() if name != self.bound}

    @property
    def largest(self) -> tuple[str, str]:
        """The obligation that needs most members: its action and its lemma."""
        return max(self.sizes, key=lambda what: self.sizes[what])


def family_of(model: Model, bound: str) -> str:
    """The family whose size is the bound of that name, and nothing else's. Else `UsageError`."""
    families = {
        index_set.size.bound.name: name
        for name, index_set in model.schema.index_sets.items()
        if index_set.symmetric and index_set.size.bound is not None
    }
    if bound not in families:
        known = ", ".join(sorted(families)) or "there is none"
        raise UsageError(f"{bound} is no number of members: valid is {known}")
    family = families[bound]
    for name, index_set in model.schema.index_sets.items():
        if name != family and index_set.size.bound and index_set.size.bound.name == bound:
            raise UsageError(f"there are as many {name} as {family}: no cut-off of {bound}")
    domains = {variable.name: variable.domain for variable in model.schema.variables.values()}
    for action, parameters in model.protocol.parameters.items():
        domains |= {f"{action}({parameter.name})": parameter.domain for parameter in parameters}
    for name, domain in domains.items():
        limits = domain.limits if isinstance(domain, Integers) else ()
        if any(limit.bound is not None and limit.bound.name == bound for limit in limits):
            raise UsageError(f"the values of {name} depend on {bound}: no cut-off of {bound}")
    return family
