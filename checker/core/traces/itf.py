"""Traces as files: ITF JSON, which other model checkers and trace viewers read too.

The format is the Informal Trace Format of Apalache's ADR-015. What a file says is not trusted: its
size is limited, nothing in it is evaluated, and a trace that the reference engine cannot replay is
rejected. Errors show at most a short, escaped piece of the file.
"""

from __future__ import annotations

import itertools
import json
import stat
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from checker.core.amounts import counted
from checker.core.digest import protocol_digest
from checker.core.files import write_whole
from checker.core.traces.itf_rounds import ROUNDS_META, read_rounds, rounds_meta
from checker.core.traces.itf_values import (
    Decoder,
    Encoder,
    digest_of,
    fields_of,
    is_shallow,
    require_number,
    show,
    text_of,
    version_of,
)  # fmt: skip
from checker.core.traces.trace import Trace, TraceVerdict, check_trace
from checker.distribution import highwater_version
from model.language import Model, Protocol
from model.language.errors import RejectedError, UsageError, unknown_name
from model.language.naming import instance_words
from model.language.protocol import Instance
from model.protocols import PROTOCOLS, reference_of
from properties import choose_properties

FORMAT_VERSION = 1
MAX_BYTES = 16 << 20
MAX_STATES = 10_000
MAX_CELLS = 20_000
MAX_INSTANCES = 200_000

OURS = "highwater"
"""Where the protocols of this project are declared."""

REDEFINED = "its protocol or property has changed since it was found"

_DESCRIPTION_URL = "https://apalache-mc.org/docs/adr/015adr-trace.html"
_META = (
    "format", "format-description", "format_version", "description", "protocol", "source",
    "digest", "preset", "settings", "bounds", "property", "verdict", "depth", "version",
)  # fmt: skip


def write_trace(trace: Trace, path: Path | str) -> None:
    """Store a trace. The same trace gives the same bytes; an old file is replaced as a whole.

    Raises `UsageError` if the file cannot be written, or is larger than what `read_trace` takes.
    """
    content = trace_as_itf(_as_run(trace)).encode()
    if len(content) > MAX_BYTES or len(trace.states) > MAX_STATES:
        raise UsageError(
            f"a trace of {len(trace.states)} states is too long to store: valid are up to "
            f"{MAX_STATES} states and {MAX_BYTES >> 20} MiB"
        )
    try:
        write_whole(Path(path), content)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write the trace {_quoted(path)}: {_reason(error)}") from None


def _as_run(trace: Trace) -> Trace:
    """The trace; as a plain run if it shows a property that its protocol does not list."""
    return trace if trace.own is None else replace(trace, own=None, property=None, verdict="run")


def save_trace(trace: Trace, directory: Path, name: str) -> Path:
    """Store a trace of what `name` says as `PRESET-NAME.itf.json`, as `write_trace` does.

    Without a preset it begins with the protocol. A trace that is there already and is of other
    settings or bounds is kept: this one is then `PRESET-NAME-2.itf.json`, and so on.
    """
    stem = f"{trace.model.preset or trace.model.protocol.name}-{name}"
    for number in itertools.count(1):
        path = directory / f"{stem}{'' if number == 1 else f'-{number}'}.itf.json"
        if not path.exists() or _is_of(path, trace.model):
            write_trace(trace, path)
            return path
    raise AssertionError  # there is always a next number


def _is_of(path: Path, model: Model) -> bool:
    """Whether a file holds a trace of the very same model."""
    try:
        found = json.loads(path.read_bytes()[:MAX_BYTES])["#meta"]
        return all(found[key] == value for key, value in model.identity.items())
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _quoted(path: Path | str) -> str:
    return repr(str(path))


def trace_as_itf(trace: Trace) -> str:
    """The trace as ITF JSON text, each state a block of lines, ending in a newline."""
    encoder = Encoder(trace.model)
    lines = ["{", '  "#meta": {']
    meta = [f"    {_compact(key)}: {_compact(value)}" for key, value in _meta(trace).items()]
    lines += [",\n".join(meta), "  },"]
    lines += [f'  "vars": {_compact(list(trace.model.schema.root.fields))},']
    if trace.rounds is not None:
        lines += [f'  "loop": {trace.rounds.start},']
    lines += ['  "states": [']
    blocks = []
    for index, state in enumerate(trace.states):
        step = _step_meta(encoder, index, trace.steps[index - 1] if index else None)
        parts = [f'      "#meta": {_compact(step)}']
        for name, value in encoder.state(state).items():
            parts.append(f"      {_compact(name)}: {_layout(value)}")
        blocks.append("    {\n" + ",\n".join(parts) + "\n    }")
    return "\n".join([*lines, ",\n".join(blocks), "  ]", "}", ""])


def _layout(value: Any) -> str:
    """A variable's value: a map has a line for each of its entries."""
    entries = value.get("#map") if isinstance(value, dict) else None
    if not entries:
        return _compact(value)
    inner = ",\n".join(f"        {_compact(entry)}" for entry in entries)
    return '{"#map": [\n' + inner + "\n      ]}"


def _compact(value: Any) -> str:
    return json.dumps(value)


def _meta(trace: Trace) -> dict[str, Any]:
    values = {
        "format": "ITF",
        "format-description": _DESCRIPTION_URL,
        "format_version": FORMAT_VERSION,
        "description": _description(trace),
        **trace.model.identity,
        "preset": trace.model.preset,
        "source": trace.source or _source(trace.model.protocol),
        "digest": trace.digest or protocol_digest(trace.model, trace.claim),
        "property": trace.property,
        "verdict": str(trace.verdict),
        "depth": trace.depth,
        "version": trace.version or highwater_version(),
    }
    return {key: values[key] for key in _META} | rounds_meta(trace.rounds)


def _source(protocol: Protocol) -> str:
    """Where a protocol is declared: `highwater`, or what names a user's own; empty if nothing."""
    return OURS if PROTOCOLS.get(protocol.name) is protocol else reference_of(protocol)


def _description(trace: Trace) -> str:
    what = f"{trace.property} {trace.verdict}" if trace.property else str(trace.verdict)
    return f"{trace.model.protocol.name}: {what} after {counted(trace.depth, 'step')}"


def _step_meta(encoder: Encoder, index: int, step: Instance | None) -> dict[str, Any]:
    if step is None:
        return {"index": index}
    return {"index": index, "action": step.action.name, "parameters": encoder.parameters(step)}


def read_trace(path: Path | str, protocols: Mapping[str, Protocol] = PROTOCOLS) -> Trace:
    """The trace in a file, replayed on the reference engine.

    Raises `UsageError` if the file cannot be read or is not a trace, and `RejectedError` if it is
    one but not a run of its protocol that ends as it says. `protocols` are those it may be of.
    """
    name = _quoted(path)
    document = _parse(_load(Path(path), name), name)
    try:
        trace = _decode(document, protocols)
    except UsageError as error:
        raise UsageError(f"{name} is not a trace: {error}") from None
    except RejectedError as error:
        raise RejectedError(f"the trace {name} is rejected: {error}") from None
    try:
        check_trace(trace)
    except UsageError as error:
        raise UsageError(f"{name} is not a trace: {error}") from None
    except RejectedError as error:
        since = f" ({REDEFINED})" if trace.is_redefined else ""
        raise RejectedError(f"the trace {name} is rejected: {error}{since}") from None
    return trace


def _load(path: Path, name: str) -> bytes:
    try:
        # A pipe or a device may block, or never end.
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"cannot read the trace {name}: it is not a regular file")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the trace {name}: {_reason(error)}") from None
    if len(content) > MAX_BYTES:
        raise UsageError(f"cannot read the trace {name}: it is larger than {MAX_BYTES >> 20} MiB")
    return content


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _parse(content: bytes, name: str) -> Any:
    try:
        return json.loads(
            content.decode(),
            object_pairs_hook=_object,
            parse_int=_small_integer,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not a trace: byte {error.start} is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{name} is not a trace: not JSON: {where}: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise UsageError(f"{name} is not a trace: its values are nested too deeply") from None
    except UsageError as error:
        raise UsageError(f"{name} is not a trace: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        times = Counter(key for key, _ in pairs)
        again = next(key for key in times if times[key] > 1)
        raise UsageError(f"an object has the field {show(again)} twice")
    return found


def _small_integer(digits: str) -> int:
    if len(digits) > 18:
        raise UsageError(f"the number {show(digits)} is too large")
    return int(digits)


def _no_constant(word: str) -> NoReturn:
    raise UsageError(f"{word} is not a number")


def _decode(document: Any, protocols: Mapping[str, Protocol]) -> Trace:
    rounds = isinstance(document, dict) and "loop" in document
    more, more_meta = (("loop",), ROUNDS_META) if rounds else ((), ())
    top = fields_of(document, "the file", ("#meta", "vars", *more, "states"))
    unsaid = {"source": OURS, "digest": "", "preset": ""}  # earlier traces did not say
    told = unsaid | top["#meta"] if isinstance(top["#meta"], dict) else top["#meta"]
    meta = fields_of(told, "#meta", (*_META, *more_meta))
    if meta["format"] != "ITF":
        raise UsageError(f"#meta.format must be 'ITF', not {show(meta['format'])}")
    require_number(meta["format_version"], FORMAT_VERSION, "#meta.format_version")
    model = _model(meta, protocols)
    variables = list(model.schema.root.fields)
    if top["vars"] != variables:
        raise UsageError(f"vars must be {variables}, not {show(top['vars'])}")
    states, steps = _decode_states(model, top["states"])
    require_number(meta["depth"], len(steps), "#meta.depth", ", the number of steps")
    found = read_rounds(top["loop"], meta, model, len(steps)) if rounds else None
    name = found.promise.name if found is not None else _property(meta["property"], model)
    return Trace(
        model, name, _verdict(meta["verdict"]), states, steps, version_of(meta["version"]),
        text_of(meta["source"], "#meta.source"), digest_of(meta["digest"]), rounds=found,
    )  # fmt: skip


def _model(meta: Mapping[str, Any], protocols: Mapping[str, Protocol]) -> Model:
    name = text_of(meta["protocol"], "#meta.protocol")
    source = text_of(meta["source"], "#meta.source")
    _refuse_to_load(name, source, protocols)
    if name not in protocols:
        raise unknown_name("protocol", name, protocols)
    protocol = protocols[name]
    declared = [bound.name for bound in protocol.bounds]
    bounds = fields_of(meta["bounds"], "#meta.bounds", declared)
    for bound, value in bounds.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise UsageError(f"#meta.bounds.{bound} must be a number, not {show(value)}")
    if not isinstance(meta["settings"], dict):
        raise UsageError(f"#meta.settings must be an object, not {show(meta['settings'])}")
    settings = {
        text_of(setting, "a setting"): text_of(value, f"#meta.settings.{show(setting)}")
        for setting, value in meta["settings"].items()
    }
    preset = text_of(meta["preset"], "#meta.preset")
    known = preset if preset in protocol.presets else ""  # of an earlier version, or none
    _check_size(model := replace(protocol.model(bounds, settings), preset=known))
    return model


def _refuse_to_load(name: str, source: str, protocols: Mapping[str, Protocol]) -> None:
    """A file says where its protocol is; only the user says that Python may be run from there."""
    known = protocols.get(name)
    if source != OURS and (known is None or known is PROTOCOLS.get(name)):
        where = f"from {show(source)}: give --protocol {source}" if source else "that nothing names"
        raise UsageError(f"its protocol, {show(name)}, is one of your own, {where}")


def _check_size(model: Model) -> None:
    for words, found, limit in (
        ("variables", len(model.declared), MAX_CELLS),
        ("steps to choose from", len(model.instances), MAX_INSTANCES),
    ):
        if found > limit:
            raise UsageError(f"its bounds give {found} {words}: valid are up to {limit}")


def _decode_states(
    model: Model, entries: Any
) -> tuple[tuple[tuple[int, ...], ...], tuple[Instance, ...]]:
    if not isinstance(entries, list) or not entries:
        raise UsageError(f"states must be a list with at least one state, not {show(entries)}")
    if len(entries) > MAX_STATES:
        raise UsageError(f"there are {len(entries)} states: valid are up to {MAX_STATES}")
    variables = ("#meta", *model.schema.root.fields)
    decoder, steps = Decoder(model), _Steps(model)
    states, taken = [], []
    for index, entry in enumerate(entries):
        where = f"states[{index}]"
        values = fields_of(entry, where, variables)
        step = steps.decode(values.pop("#meta"), index, where)
        taken += [step] if step is not None else []
        states.append(decoder.state(values, where))
    return tuple(states), tuple(taken)


class _Steps:
    """Finds the model's instances by what files say of them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        encoder = Encoder(model)
        self._known = {(i.action.name, _compact(encoder.parameters(i))): i for i in model.instances}
        self._parameters = {i.action.name: [p.name for p in i.parameters] for i in model.instances}

    def decode(self, meta: Any, index: int, where: str) -> Instance | None:
        """The step that leads to the state at `index`; none for the first."""
        wanted = ("index", "action", "parameters") if index else ("index",)
        fields = fields_of(meta, f"{where}.#meta", wanted)
        require_number(fields["index"], index, f"{where}.#meta.index")
        return self._step(fields, index, f"{where}.#meta") if index else None

    def _step(self, fields: Mapping[str, Any], index: int, where: str) -> Instance:
        name = text_of(fields["action"], f"{where}.action")
        if name not in self._parameters:
            error = unknown_name(f"action of {self.model.protocol.name}", name, self._parameters)
            raise RejectedError(f"step {index}: {error}")
        names = self._parameters[name]
        given = fields_of(fields["parameters"], f"{where}.parameters", names)
        found = None
        # Only shallow values can be parameters; deep ones are not serialised again.
        if all(is_shallow(value) for value in given.values()):
            found = self._known.get((name, _compact({n: given[n] for n in names})))
        if found is None:
            valid = [i for i in self.model.instances if i.action.name == name]
            shown = ", ".join(f"{n} {show(given[n])}" for n in names)
            raise RejectedError(
                f"step {index}: {name} has no parameters {shown}; valid are "
                f"{instance_words(self.model, valid[0])} to "
                f"{instance_words(self.model, valid[-1])}"
            )
        return found


def _property(found: Any, model: Model) -> str | None:
    if found is None:
        return None
    return choose_properties(model.protocol, [text_of(found, "#meta.property")])[0].name


def _verdict(found: Any) -> str:
    name = text_of(found, "#meta.verdict")
    if name not in list(TraceVerdict):
        raise unknown_name("verdict of a trace", name, TraceVerdict)
    return TraceVerdict(name)
