"""States as ITF expressions: how the values of a model's cells are written and read back.

The shape follows the protocol's schema: records are objects, families and tables are maps,
sequences are lists that end where the sequence does, references and members are names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from checker.core.engines.reference import State
from model.language import Model
from model.language.cells import Index
from model.language.declare.domains import Booleans, Domain, IndexSet, Integers, Reference, Subset
from model.language.declare.schema import (
    IndexedSchema,
    RecordSchema,
    ScalarSchema,
    SequenceSchema,
)
from model.language.declare.store import Part
from model.language.declare.variables import Variable
from model.language.errors import RejectedError, UsageError
from model.language.naming import NONE, member_names
from model.language.protocol import Instance

_BIGINT = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_LONGEST_NAME = 200


def show(value: Any) -> str:
    """A value from a file for an error message: short, escaped, and never deeply nested."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return ascii(value) if len(value) <= 60 else ascii(value[:57]) + "..."
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)[:60]


def fields_of(value: Any, where: str, names: Iterable[str]) -> dict[str, Any]:
    """The fields of an object that must have exactly these; `UsageError` names a wrong one."""
    wanted = list(names)
    if not isinstance(value, dict):
        raise UsageError(f"{where} must be an object, not {show(value)}")
    for name in value:
        if name not in wanted:
            valid = ", ".join(wanted) or "none"
            raise UsageError(f"{where} has the unknown field {show(name)}: valid are {valid}")
    for name in wanted:
        if name not in value:
            raise UsageError(f"{where} lacks the field {name!r}")
    return dict(value)


def list_of(value: Any, where: str) -> list[Any]:
    """A list; `UsageError` for anything else."""
    if not isinstance(value, list):
        raise UsageError(f"{where} must be a list, not {show(value)}")
    return value


def require_number(value: Any, wanted: int, where: str, why: str = "") -> None:
    """`UsageError` unless the value is this number, and not a boolean."""
    if value != wanted or isinstance(value, bool):
        raise UsageError(f"{where} must be {wanted}{why}, not {show(value)}")


def text_of(value: Any, where: str) -> str:
    """A string of reasonable length; `UsageError` for anything else."""
    if not isinstance(value, str):
        raise UsageError(f"{where} must be a string, not {show(value)}")
    if len(value) > _LONGEST_NAME:
        raise UsageError(f"{where} is a string of {len(value)} characters: too long")
    return value


def bigint(number: int) -> dict[str, str]:
    """An integer as an ITF expression."""
    return {"#bigint": str(number)}


def number_of(value: Any, where: str) -> int:
    """The integer that an ITF expression stands for; `UsageError` if it is not one."""
    if isinstance(value, dict) and list(value) == ["#bigint"]:
        digits = value["#bigint"]
        if isinstance(digits, str) and _BIGINT.fullmatch(digits):
            return int(digits)
    raise UsageError(f'{where} must be an integer such as {{"#bigint": "3"}}, not {show(value)}')


class _Codec:
    """What writing and reading share: the model, and the names of members."""

    def __init__(self, model: Model) -> None:
        self.model, self.extents = model, model.extents
        self.names = {
            name: member_names(model, name)
            for name, family in model.schema.families.items()
            if family.index_set.symmetric
        }


class Encoder(_Codec):
    """Writes states and parameters of one model as expressions."""

    def state(self, state: State) -> dict[str, Any]:
        """The variables of the root record with their values."""
        self._state = state
        return self._record(self.model.schema.root, ())

    def parameters(self, instance: Instance) -> dict[str, Any]:
        """The parameters of a step by name."""
        return {
            parameter.name: self._scalar(parameter.domain, argument)
            for parameter, argument in zip(instance.parameters, instance.arguments, strict=True)
        }

    def _record(self, schema: RecordSchema, index: Index) -> dict[str, Any]:
        return {name: self._part(part, index) for name, part in schema.fields.items()}

    def _part(self, part: Part, index: Index) -> Any:
        match part:
            case ScalarSchema(variable):
                number = self._state[self.model.cell(variable, index).position]
                return self._scalar(variable.domain, number)
            case RecordSchema():
                return self._record(part, index)
            case SequenceSchema():
                return self._sequence(part, index)
            case IndexedSchema(index_set, item):
                name = index_set.name
                pairs = ((self._member(name, k), (*index, k)) for k in range(self.extents[name]))
                return {"#map": [[key, self._part(item, place)] for key, place in pairs]}
        raise TypeError(f"no way to write a {type(part).__name__}")

    def _sequence(self, part: SequenceSchema, index: Index) -> Any:
        """A list; an object if something is stored beyond the end, as proofs may start from."""
        end = self._state[self.model.cell(part.end, index).position]
        stored = max(end, self._stored(part, index))
        records = [self._record(part.item, (*index, k)) for k in range(stored)]
        return records if stored == end else {"end": bigint(end), "stored": records}

    def _stored(self, part: SequenceSchema, index: Index) -> int:
        """One past the last position of the sequence that is not blank."""
        stored = (
            cell.index[len(index)] + 1
            for variable in part.variables
            for cell in self.model.cells_below(variable, index)
            if self._state[cell.position] != cell.blank
        )
        return max(stored, default=0)

    def _scalar(self, domain: Domain, number: int) -> Any:
        match domain:
            case Booleans():
                return bool(number)
            case Integers():
                return bigint(number)
            case Reference(family):
                return self._member(family, number)
            case Subset(family):
                chosen = [k for k in range(number.bit_length()) if number >> k & 1]
                return {"#set": [self._member(family, k) for k in chosen]}

    def _member(self, family: str, number: int) -> Any:
        """A member by name; a row by number, with -1 for none."""
        if family not in self.names:
            return bigint(number)
        return NONE if number < 0 else self.names[family][number]


class Decoder(_Codec):
    """Reads states of one model back. Every place of an error is named from the file's top."""

    def state(self, values: Mapping[str, Any], where: str) -> State:
        """The state that the variables of the root record stand for."""
        self._state = [cell.blank for cell in self.model.declared]
        for name, part in self.model.schema.root.fields.items():
            self._part(part, (), values[name], f"{where}.{name}")
        return tuple(self._state)

    def _record(self, schema: RecordSchema, index: Index, value: Any, where: str) -> None:
        for name, inner in fields_of(value, where, schema.fields).items():
            self._part(schema.fields[name], index, inner, f"{where}.{name}")

    def _part(self, part: Part, index: Index, value: Any, where: str) -> None:
        match part:
            case ScalarSchema(variable):
                self._cell(variable, index, value, where)
            case RecordSchema():
                self._record(part, index, value, where)
            case SequenceSchema():
                self._sequence(part, index, value, where)
            case IndexedSchema(index_set, item):
                for key, inner in self._map(index_set, value, where):
                    self._part(item, (*index, key), inner, f"{where}[{key}]")
            case _:
                raise TypeError(f"no way to read a {type(part).__name__}")

    def _map(self, index_set: IndexSet, value: Any, where: str) -> list[tuple[int, Any]]:
        entries = list_of(fields_of(value, where, ["#map"])["#map"], f"{where}.#map")
        found: dict[int, Any] = {}
        extent = self.extents[index_set.name]
        for entry in entries:
            if not isinstance(entry, list) or len(entry) != 2:
                raise UsageError(f"{where}.#map must hold pairs, not {show(entry)}")
            key = self._member(index_set.name, entry[0], where)
            if not 0 <= key < extent or key in found:
                raise UsageError(f"{where} has the key {key} twice, or it is not one of its keys")
            found[key] = entry[1]
        if len(found) != extent:
            raise UsageError(f"{where} must have {extent} keys, not {len(found)}")
        return sorted(found.items())

    def _sequence(self, part: SequenceSchema, index: Index, value: Any, where: str) -> None:
        records, end = value, None
        if isinstance(value, dict):
            fields = fields_of(value, where, ["end", "stored"])
            records, end = fields["stored"], fields["end"]
        records, capacity = list_of(records, where), self.extents[part.index_set.name]
        if len(records) > capacity:
            raise RejectedError(f"{where} has {len(records)} entries: valid are up to {capacity}")
        for k, record in enumerate(records):
            self._record(part.item, (*index, k), record, f"{where}[{k}]")
        end = bigint(len(records)) if end is None else end
        self._cell(part.end, index, end, f"{where}.end")

    def _cell(self, variable: Variable, index: Index, value: Any, where: str) -> None:
        cell = self.model.cell(variable, index)
        number = self._scalar(variable.domain, value, where)
        if not cell.low <= number <= cell.high:
            raise RejectedError(
                f"{where} is {show(number)}: valid is {variable.domain}, {cell.low}..{cell.high}"
            )
        self._state[cell.position] = number

    def _scalar(self, domain: Domain, value: Any, where: str) -> int:
        match domain:
            case Booleans():
                if not isinstance(value, bool):
                    raise UsageError(f"{where} must be true or false, not {show(value)}")
                return int(value)
            case Integers():
                return number_of(value, where)
            case Reference(family):
                return self._member(family, value, where)
            case Subset(family):
                return self._set(family, value, where)

    def _set(self, family: str, value: Any, where: str) -> int:
        found = 0
        for member in list_of(fields_of(value, where, ["#set"])["#set"], f"{where}.#set"):
            number = self._member(family, member, where)
            if not 0 <= number < self.extents[family]:
                raise UsageError(f"{where} holds {show(member)}, which is not one of {family}")
            if found >> number & 1:
                raise UsageError(f"{where} holds {show(member)} twice")
            found |= 1 << number
        return found

    def _member(self, family: str, value: Any, where: str) -> int:
        if family not in self.names:
            return number_of(value, where)
        names = self.names[family]
        name = text_of(value, where)
        if name == NONE:
            return -1
        if name not in names:
            raise UsageError(f"{where} names {show(name)}: valid are {', '.join(names)}")
        return names.index(name)


# --- states that people type -------------------------------------------------------------------


def plain_state(model: Model, state: State) -> dict[str, Any]:
    """A state as traces write it, with plain numbers for integers: what people edit."""
    found = _plain(Encoder(model).state(state))
    assert isinstance(found, dict)
    return found


def state_of(model: Model, values: Any) -> State:
    """The state that JSON stands for, as `plain_state` or a trace writes it.

    What is left out of an object or a map is as at first. `UsageError` in one line if it is no
    state of the model, `RejectedError` if a value is out of its domain.
    """
    if not isinstance(values, dict):
        raise UsageError(f"a state must be an object, not {show(values)}")
    known = Encoder(model).state(model.initial_state)
    given = {name: value for name, value in values.items() if name != "#meta"}
    fields_of({**known, **given}, "the state", known)
    return Decoder(model).state(_filled(_typed(given), known), "state")


def _filled(given: Any, known: Any) -> Any:
    """What is given, with what it leaves out as it is known; what is neither is left alone."""
    if not (isinstance(given, dict) and isinstance(known, dict)):
        return given
    if list(given) == list(known) == ["#map"]:
        return {"#map": _filled_map(given["#map"], known["#map"])}
    if any(name.startswith("#") for name in (*given, *known)):
        return given
    named = {name: _filled(value, known.get(name)) for name, value in given.items()}
    return {**known, **named}


def _filled_map(given: Any, known: list[Any]) -> Any:
    try:
        pairs = [(json.dumps(key), key, value) for key, value in given]
    except (TypeError, ValueError):
        return given
    if len({name for name, _, _ in pairs}) < len(pairs):
        return given
    usual = {json.dumps(key): [key, value] for key, value in known}
    named = {
        name: [key, _filled(value, usual.get(name, [None, None])[1])] for name, key, value in pairs
    }
    return list({**usual, **named}.values())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        if list(value) == ["#bigint"]:
            return int(value["#bigint"])
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _typed(value: Any) -> Any:
    """JSON with each plain integer as ITF writes it. Nesting is limited, as by `json` itself."""
    if isinstance(value, int) and not isinstance(value, bool):
        return bigint(value)
    if isinstance(value, dict):
        return {name: _typed(inner) for name, inner in value.items()}
    return [_typed(inner) for inner in value] if isinstance(value, list) else value


def is_shallow(value: Any) -> bool:
    """Whether a decoded value can be a parameter: a scalar, or an object of scalars."""
    inner: Iterable[Any] = value.values() if isinstance(value, dict) else [value]
    return all(isinstance(part, str | bool | int) for part in inner)


def digest_of(found: Any) -> str:
    """A protocol's digest as a file says it, or none; `UsageError` of anything else."""
    digest = text_of(found, "#meta.digest")
    if not re.fullmatch(r"[0-9a-f]{0,64}", digest):
        raise UsageError(f"#meta.digest {show(digest)} is not a digest")
    return digest


def version_of(found: Any) -> str:
    """A version of Highwater as a file says it; `UsageError` of anything else."""
    # It is shown in reports: only what a version can be.
    version = text_of(found, "#meta.version")
    if not re.fullmatch(r"[0-9A-Za-z.+!-]{1,40}", version):
        raise UsageError(f"#meta.version {show(version)} is not a version")
    return version
