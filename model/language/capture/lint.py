"""Plain Python that runs during capture and yet means something else there: refused before it can.

Most of what cannot be captured raises by itself, since symbolic values refuse it. What is here does
not touch a symbolic value, or touches it as often as a plain one: `is`, `match`, and functions that
count the rounds of a loop.
"""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from model.language.errors import CaptureError

_COUNTING = re.compile(r"\b(enumerate|zip|reversed|map|filter|iter)\(")
_INLINED = "LOAD_FAST_AND_CLEAR"  # begins a comprehension that Python 3.12 inlines


def refuse_identity(function: Callable[..., Any]) -> None:
    """`CaptureError` if the function compares with `is` or uses `match`.

    Symbolic values are never `None`, nor of the class that a pattern names. Functions whose source
    is not at hand are taken as they are.
    """
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, TypeError):
        return
    name = Path(inspect.getsourcefile(function) or "?").name
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(
            isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops
        ):
            raise CaptureError(
                f"{name}:{first + node.lineno - 1}: `is` on what may be a value read from the "
                "state: write is_none(x) or =="
            )
        if isinstance(node, ast.Match):
            raise CaptureError(
                f"{name}:{first + node.lineno - 1}: `match`: write choose(condition, a, b)"
            )


def counts_rounds(frame: FrameType) -> bool:
    """Whether a frame iterates other than by a plain `for`: one bound variable would not do.

    `enumerate`, `zip` and the like pair what they iterate; `list`, `sum` and comprehensions that
    no quantifier takes consume it.
    """
    if frame.f_code.co_name.startswith("<") and frame.f_code.co_name != "<module>":
        return frame.f_code.co_name != "<lambda>"
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    instruction = _instruction_at(frame)
    plain = instruction is None or instruction.opname == "FOR_ITER"
    return not plain or _COUNTING.search(text) is not None


def is_inlined_comprehension(frame: FrameType) -> bool:
    """Whether a frame is in the middle of a comprehension that Python has put into its own code."""
    return any(
        instruction.opname == _INLINED and instruction.offset < frame.f_lasti
        for instruction in dis.get_instructions(frame.f_code)
    )


def _instruction_at(frame: FrameType) -> dis.Instruction | None:
    return next((i for i in dis.get_instructions(frame.f_code) if i.offset == frame.f_lasti), None)
