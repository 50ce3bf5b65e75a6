"""Names for the parts of a state, so that traces, errors and reports call them the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from model.language.declare.domains import Booleans, Domain, IndexSet, Integers, Reference, Subset
from model.language.declare.settings import Role, as_text, choose_settings, describe
from model.language.protocol import Cell, Instance, Model

NONE = "none"


def member_name(model: Model, family: str, number: int) -> str:
    """The name of a family's member or a table's row, such as `r0` or `request 2`."""
    record = model.schema.families[family].item
    return repr(record.view_class(cast(Any, None), record, (number,)))


def member_names(model: Model, family: str) -> tuple[str, ...]:
    """The names of all members of a family, in order."""
    return tuple(member_name(model, family, number) for number in range(model.extents[family]))


def bounds_words(bounds: Mapping[str, int]) -> str:
    """The bounds that are not 0, by name. Most are budgets: of the others nothing may happen."""
    named = [f"{name.replace('_', ' ')} {value}" for name, value in bounds.items() if value]
    if len(named) == len(bounds):
        return ", ".join(named)
    return f"{', '.join(named)}; all others 0" if named else "all bounds 0"


def settings_words(model: Model) -> list[str]:
    """The preset that the settings were chosen by, if any, and each that differs: `NAME=VALUE`."""
    changed = [f"{name}={value}" for name, value in changed_settings(model).items()]
    return [model.preset, *changed] if model.preset else changed


def changed_settings(model: Model) -> dict[str, str]:
    """The settings that differ from the preset's, or from the defaults where there is none."""
    protocol, preset = model.protocol, model.preset
    usual = as_text(choose_settings(protocol.settings, protocol.preset(preset) if preset else {}))
    return {n: value for n, value in as_text(model.settings).items() if value != usual[n]}


def usual_presets(model: Model) -> list[str]:
    """The presets whose settings are all at their defaults."""
    protocol = model.protocol
    usual = as_text(choose_settings(protocol.settings, {}))
    presets = protocol.presets.items()
    return [
        n for n, chosen in presets if as_text(choose_settings(protocol.settings, chosen)) == usual
    ]


def system_words(model: Model) -> str:
    """What is modelled, as people call it: `Kafka 4.1`; and whether its rules were changed."""
    telling = model.protocol.telling
    release, *modes = model.preset.partition("-")[2].split("-")
    having = ["all fixes"] if release == "fixed" else []
    having += [dict(telling.modes).get(mode, mode) for mode in modes]
    infos = describe(model.protocol.settings)
    if any(infos[name].role is Role.RULE for name in changed_settings(model)):
        having.append("changed rules")
    called = telling.system or model.protocol.name
    version = release.removesuffix("fixed")
    with_ = f"with {' and '.join(having)}" if having else ""
    return " ".join(filter(None, (called, version, with_)))


def value_words(model: Model, cell: Cell, number: int) -> str:
    """The number that stands in `cell`, as people write its value.

    An integer that its domain declares to be none is "none"; one of an enumeration is the name
    there.
    """
    return domain_words(model, cell.variable.domain, number)


def domain_words(model: Model, domain: Domain, number: int) -> str:
    """The number that stands for a value of a domain, as people write that value."""
    match domain:
        case Booleans():
            return "true" if number else "false"
        case Integers(names=enumeration) if enumeration is not None:
            return enumeration(number).name.lower().replace("_", " ")
        case Integers(none=none):
            return NONE if number == none else str(number)
        case Reference(family):
            return NONE if number < 0 else member_name(model, family, number)
        case Subset(family):
            names = member_names(model, family)
            return "{" + ", ".join(n for k, n in enumerate(names) if number >> k & 1) + "}"


def cell_path(model: Model, cell: Cell) -> str:
    """Where the cell is in the state, such as `replicas[r2].log[0].epoch`."""
    path = ""
    for part in cell.path:
        path += f".{part}" if isinstance(part, str) else f"[{_index_name(model, *part)}]"
    return path.removeprefix(".")


def _index_name(model: Model, index_set: IndexSet, number: int) -> str:
    return member_name(model, index_set.name, number) if index_set.symmetric else str(number)


def members_named(model: Model, instance: Instance) -> dict[str, tuple[str, int]]:
    """The members, not rows of tables, that a step's parameters are: family and number by name."""
    return {
        parameter.name: (parameter.domain.family, argument)
        for parameter, argument in zip(instance.parameters, instance.arguments, strict=True)
        if isinstance(parameter.domain, Reference)
        and model.schema.index_sets[parameter.domain.family].symmetric
    }


def instance_words(model: Model, instance: Instance) -> str:
    """The action and its parameters by name, such as `leader_write(leader=r0)`."""
    members = {n: member_name(model, *m) for n, m in members_named(model, instance).items()}
    arguments = instance.named_arguments | members
    return f"{instance.action.name}({', '.join(f'{n}={word}' for n, word in arguments.items())})"
