"""The tools that agents are offered, each a command: schemas and arguments, from its declaration.

What a tool takes follows from the command's options, and what it answers from the outputs of
`--json`. There is no second list: an option that a command gets, its tool has too, unless it is
among those that are left out here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import click

from checker.commands.agents.folder import Folder
from checker.commands.agents.limits import MEMORY, SECONDS, CallLimits
from checker.commands.choosing import option_of_bound, takes_bounds
from checker.commands.cli import COMMANDS, highwater
from checker.commands.outputs.common import Error
from checker.commands.outputs.schema import OPEN_ENDED, OUTPUTS
from checker.commands.outputs.shapes import JSON, definitions_of
from model.language.errors import UsageError, unknown_name

OFFERED = ("list", "explore", "explain", "replay", "simulate", "ask", "affected")
"""The commands that are tools."""

LEFT_OUT = frozenset({
    *("as_json", "quiet", "form", "version"),  # an answer has one form
    *("engine", "master", "partitions"),  # for searches of hours
    *("store", "spill", "max_disk", "resume"),
    *("picture", "page", "save", "anonymous", "also"),  # files for people
    *("servers", "command_config"),  # a server for agents opens no connections
    *(SECONDS, MEMORY),  # of every tool: see `CallLimits`
})  # fmt: skip
"""Options of these commands that tools do not have."""

WITHOUT_ARGUMENTS = {"list": ["--only=protocols"]}
"""Options of a call that has no arguments: all of every protocol is more than a model reads."""

BOUNDS = "bounds"
_BOUND = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_PAIRS = re.compile(r"[A-Z]+=[A-Z]+")  # metavars such as NAME=VALUE


@dataclass(frozen=True)
class Tool:
    """A command as a tool."""

    name: str
    command: click.Command

    @property
    def description(self) -> str:
        """What it does, and what the command's help says of it; not of exit statuses."""
        text = (self.command.help or "").partition("Exit status")[0]
        paragraphs = (" ".join(part.split()) for part in text.split("\n\n"))
        return "\n\n".join([COMMANDS[self.name].capitalize(), *filter(None, paragraphs)])

    @property
    def params(self) -> dict[str, click.Parameter]:
        """The command's parameters by the names that arguments have."""
        kept = (param for param in self.command.params if param.name not in LEFT_OUT)
        return {_key(param): param for param in kept}

    @property
    def known(self) -> set[str]:
        """The names of all the command's parameters, those that are left out too."""
        return {param.name or "" for param in self.command.params}

    def input_schema(self, limits: CallLimits) -> JSON:
        """What the tool takes."""
        properties = {key: _schema(param) for key, param in self.params.items()}
        if takes_bounds(self.command):
            properties[BOUNDS] = {
                "type": "object",
                "additionalProperties": {"type": "integer"},
                "description": "sizes and faults by name, as `list` shows them of the protocol",
            }
        return {
            "type": "object",
            "properties": properties | limits.schema(),
            "required": [key for key, param in self.params.items() if param.required],
            "additionalProperties": False,
        }

    def output_schema(self) -> JSON:
        """What it answers: one of the command's outputs, or an error."""
        outputs = [each for each in OUTPUTS if _command_of(each) == self.name]
        return {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "anyOf": [{"$ref": f"#/definitions/{each.__name__}"} for each in (*outputs, Error)],
            "definitions": definitions_of((*outputs, Error), OPEN_ENDED),
        }

    def arguments(self, given: Mapping[str, Any], folder: Folder, limits: CallLimits) -> list[str]:
        """The command line of a call with these arguments; `UsageError` if one is not valid.

        Whatever the command refuses by itself is left to it.
        """
        options = [] if given else list(WITHOUT_ARGUMENTS.get(self.name, []))
        operands: list[str] = []
        bounds = given.get(BOUNDS) if takes_bounds(self.command) else None
        for key, value in given.items():
            if value is None or (key == BOUNDS and bounds is not None):
                continue
            param = self.params.get(key)
            if param is None:
                extra = [BOUNDS] if takes_bounds(self.command) else []
                names = (*self.params, *extra, SECONDS, MEMORY)
                raise unknown_name("argument", key, names, "the tool's schema")
            words = [_checked(param, word, folder) for word in _words(param, key, value)]
            if isinstance(param, click.Argument):
                operands += words
            elif isinstance(param, click.Option) and param.is_flag:
                options += words
            else:
                options += [f"{max(param.opts, key=len)}={word}" for word in words]
        options += [*self._bounds(bounds), *limits.options(self.known), "--json"]
        return [self.name, *options, "--", *operands]

    def _bounds(self, given: Any) -> list[str]:
        if given is None:
            return []
        if not isinstance(given, Mapping):
            raise UsageError(f'{BOUNDS} is an object, such as {{"replicas": 2}}')
        for name in given:
            if not _BOUND.fullmatch(name):
                raise UsageError(f"{name!r} is no name of a bound")
        params = self.command.params
        return [
            f"{option_of_bound(name.replace('-', '_'), params)}={_word(value)}"
            for name, value in given.items()
        ]


def tools() -> dict[str, Tool]:
    """Every tool by its name."""
    context = click.Context(highwater)
    found = {}
    for name in OFFERED:
        command = highwater.get_command(context, name)
        assert command is not None
        found[name] = Tool(name, command)
    return found


def called(name: str) -> Tool:
    """The tool of that name; `UsageError` if there is none."""
    known = tools()
    if name not in known:
        raise unknown_name("tool", name, known, "tools/list")
    return known[name]


def _command_of(output: Any) -> Any:
    return next(iter(get_args(get_type_hints(output)["command"])))


# --- parameters ----------------------------------------------------------------------------------


def _key(param: click.Parameter) -> str:
    """How an argument is called: as the option, without dashes."""
    if isinstance(param, click.Argument):
        return param.name or ""
    return max(param.opts, key=len).removeprefix("--").replace("-", "_")


def _is_many(param: click.Parameter) -> bool:
    return param.multiple or param.nargs == -1


def _is_pairs(param: click.Parameter) -> bool:
    return param.multiple and _PAIRS.fullmatch(param.metavar or "") is not None


def _schema(param: click.Parameter) -> JSON:
    one = _type(param.type)
    words = param.help if isinstance(param, click.Option) else None
    about: JSON = {"description": words or f"{param.metavar}, as the description says"}
    if isinstance(param.default, bool | int | float | str):
        about["default"] = param.default
    if _is_pairs(param):
        scalar = {"type": ["string", "number", "boolean"]}
        return {"type": "object", "additionalProperties": scalar} | about
    return ({"type": "array", "items": one} if _is_many(param) else one) | about


def _type(kind: click.ParamType[Any]) -> JSON:
    if isinstance(kind, click.IntRange):
        limits = {"minimum": kind.min, "maximum": kind.max}
        return {"type": "integer"} | {key: n for key, n in limits.items() if n is not None}
    if isinstance(kind, click.Choice):
        return {"enum": list(kind.choices)}
    if isinstance(kind, click.Path):
        return {"type": "string"}
    return {"type": {"integer": "integer", "boolean": "boolean", "text": "string"}[kind.name]}


def _words(param: click.Parameter, key: str, value: Any) -> list[str]:
    """A value as what stands on a command line."""
    if isinstance(param, click.Option) and param.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{key} is true or false, not {_word(value)}")
        return [param.opts[0]] if value else list(param.secondary_opts[:1])
    if _is_pairs(param) and isinstance(value, Mapping):
        return [f"{name}={_word(each)}" for name, each in value.items()]
    many = value if _is_many(param) and isinstance(value, list) else [value]
    return [_word(each) for each in many]


def _word(value: Any) -> str:
    """A value as one types it: JSON's `true` and not Python's `True`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _checked(param: click.Parameter, word: str, folder: Folder) -> str:
    """The word, if it names nothing outside the folder."""
    if isinstance(param.type, click.Path):
        return folder.path(word)
    return folder.protocol(word) if param.name == "protocol" else word
