"""The modelling language: how a protocol is written down once, for every engine to run.

It knows nothing of Kafka and nothing of how protocols are checked. `docs/writing_a_protocol.md`
introduces it.
"""

from typing import Annotated

from model.language.action import Action, action
from model.language.budgets import (
    Budget,
    Budgets,
    Loses,
    Stops,
    bounds_in,
    budget,
    is_left,
    spend,
    spent,
    use_up,
)
from model.language.capture.words import (
    all_of,
    any_of,
    choose,
    count,
    every,
    implies,
    is_majority,
    is_none,
    largest,
    maximum,
    minimum,
    not_,
    require,
    smallest,
    some,
)
from model.language.declare.containers import (
    Members,
    PerMember,
    Sequence,
    SetOf,
    Table,
    everybody,
    for_each,
    members,
    nobody,
    sequence,
    table,
)
from model.language.declare.domains import Bound, integers
from model.language.declare.entity import Entity, Record, State
from model.language.declare.settings import Role, presets, setting
from model.language.fairness import Fairness, strong, weak
from model.language.protocol import Model, Protocol
from model.language.telling import Telling

__all__ = [
    "Action",
    "Annotated",
    "Bound",
    "Budget",
    "Budgets",
    "Entity",
    "Fairness",
    "Loses",
    "Members",
    "Model",
    "PerMember",
    "Protocol",
    "Record",
    "Role",
    "Sequence",
    "SetOf",
    "State",
    "Stops",
    "Table",
    "Telling",
    "action",
    "all_of",
    "any_of",
    "bounds_in",
    "budget",
    "choose",
    "count",
    "every",
    "everybody",
    "for_each",
    "implies",
    "integers",
    "is_left",
    "is_majority",
    "is_none",
    "largest",
    "maximum",
    "members",
    "minimum",
    "nobody",
    "not_",
    "presets",
    "require",
    "sequence",
    "setting",
    "smallest",
    "some",
    "spend",
    "spent",
    "strong",
    "table",
    "use_up",
    "weak",
]
