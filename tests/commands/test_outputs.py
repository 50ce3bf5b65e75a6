"""The stored schema of what commands print is what follows from the declarations of it."""

import json
from pathlib import Path
from typing import Annotated, Literal, NotRequired, TypedDict

import pytest

from checker.commands import cli
from checker.commands.outputs.schema import OUTPUTS, schema
from checker.commands.outputs.shapes import Count, Keyword, definitions_of

STORED = Path(cli.__file__).parent / "output.schema.json"


def test_the_stored_schema_is_what_is_declared():
    assert json.loads(STORED.read_text()) == schema(), (
        "python -m checker.commands.outputs > checker/commands/output.schema.json"
    )


def test_every_command_has_an_output():
    declared = (schema()["definitions"][each.__name__]["properties"] for each in OUTPUTS)
    named = {each["command"].get("const") for each in declared}
    assert named == {*cli.COMMANDS, None}  # an error is of any command


class Part(TypedDict):
    """A part."""

    at: Count | None


class Whole(TypedDict):
    """A whole."""

    kind: Literal["a", "b"]
    name: Annotated[str, Keyword("minLength", 1)]
    parts: NotRequired[list[Part]]
    by_name: dict[str, Part | None]


def test_a_schema_says_what_its_declaration_does():
    part = {"$ref": "#/definitions/Part"}
    assert definitions_of([Whole], [Part]) == {
        "Part": {
            "description": "A part.",
            "type": "object",
            "required": ["at"],
            "properties": {"at": {"type": ["integer", "null"], "minimum": 0}},
            "additionalProperties": True,
        },
        "Whole": {
            "description": "A whole.",
            "type": "object",
            "required": ["kind", "name", "by_name"],
            "properties": {
                "kind": {"enum": ["a", "b"]},
                "name": {"type": "string", "minLength": 1},
                "parts": {"type": "array", "items": part},
                "by_name": {
                    "type": "object",
                    "additionalProperties": {"anyOf": [part, {"type": "null"}]},
                },
            },
            "additionalProperties": False,
        },
    }


def test_what_json_has_no_type_for_is_refused():
    class Odd(TypedDict):
        found: set[int]

    with pytest.raises(TypeError, match="no type of an output"):
        definitions_of([Odd], [])
