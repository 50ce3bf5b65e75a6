"""A model with so many members of one family, of which the others of a larger one are left out.

What names a member that was left out, as a leader elsewhere, names somebody outside: references
have as many further numbers as there are references, so that two that meant different members still
do. Nobody outside is in a set, has variables, or takes part in a step.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from model.language import graph
from model.language.action import Action, Instance
from model.language.capture import CapturedAction, Parameter
from model.language.declare.domains import Domain, Reference
from model.language.graph import Kind
from model.language.ground import GroundAction
from model.language.protocol import Model


@dataclass(frozen=True, eq=False)
class Part(Model):
    """Some members of a larger model's `family`, with these `actions`, by name.

    Members below `named` have names in the protocol. Of the steps that are alike but for who does
    them, by members without a name, there is one.
    """

    family: str = ""
    named: int = 0
    actions: Mapping[str, CapturedAction] = field(default_factory=dict)
    narrow: bool = False

    @classmethod
    def of(
        cls, model: Model, members: int, family: str, named: int,
        actions: Mapping[str, CapturedAction],
    ) -> Part:  # fmt: skip
        """So many members of a model, however many it has."""
        size = model.schema.index_sets[family].size
        assert size.bound is not None
        bounds = {**model.bounds, size.bound.name: members - size.offset}
        chosen = model.schema, bounds, model.protocol, model.settings
        return cls(*chosen, family=family, named=named, actions=actions)

    @cached_property
    def outside(self) -> int:
        """How many members outside can be told apart: one for each reference."""
        variables = self.schema.variables.values()
        sizes = [
            [self.extents[index_set.name] for index_set in variable.index]
            for variable in variables
            if variable.sort.kind is Kind.REF and variable.sort.family == self.family
        ]
        return sum(map(math.prod, sizes))

    def limits(self, domain: Domain) -> tuple[int, int]:
        low, high = super().limits(domain)
        is_of_family = isinstance(domain, Reference) and domain.family == self.family
        return low, high + self.outside if is_of_family else high

    def captured_action(self, action: Action) -> CapturedAction:
        return self.actions[action.name]

    @cached_property
    def instances(self) -> tuple[Instance, ...]:
        return tuple(
            Instance(number, action, parameters, arguments)
            for number, (action, parameters, arguments) in enumerate(self._kinds())
        )

    def steps(self, action: str) -> list[GroundAction]:
        """The instances of one action that some state might enable, one of each kind."""
        grounded = (
            self._grounder.action(instance, self.actions[action])
            for instance in self.instances
            if instance.action.name == action
        )
        return [ground for ground in grounded if ground.guard is not graph.FALSE]

    def _kinds(self) -> Iterator[tuple[Action, tuple[Parameter, ...], tuple[int, ...]]]:
        for action in self.protocol.actions:
            parameters = self.protocol.parameters[action.name]
            is_member = [
                isinstance(p.domain, Reference) and p.domain.family == self.family
                for p in parameters
            ]
            limits = [super(Part, self).limits(p.domain) for p in parameters]
            ranges = [range(low, high + 1) for low, high in limits]
            for arguments in itertools.product(*ranges):
                met = self.named
                for argument, one in zip(arguments, is_member, strict=True):
                    if one and argument > met:
                        break
                    met += one and argument == met
                else:
                    yield action, parameters, arguments
