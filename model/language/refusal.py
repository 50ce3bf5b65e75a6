"""Refusing what cannot be captured: at the user's line, and with what to write instead."""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import re
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import NoReturn

from model.language.errors import CaptureError

_LANGUAGE = str(Path(__file__).parent)
_NAME = __name__.rpartition(".")[0]
_LIBRARY = (
    sysconfig.get_path("stdlib"),
    *(str(Path(inspect.getfile(module)).parent) for module in (functools, os)),
)
"""Where Python's own modules are: in a browser, some in a folder and some in an archive."""

_REMEDIES = (
    (r"\bmin\(|\bmax\(", "min and max", "minimum(a, b), maximum(a, b)"),
    (r"\bsorted\(|\.sort\(", "sorting", "smallest(...) or largest(...)"),
    (
        r"\bif\b[^:]*:\s*(return|\w+(\.\w+|\[.*\])*\s*[-+]?=)",
        "`if`",
        "require(...) or choose(c, a, b)",
    ),
    (
        r"(?:[<>]=?|[=!]=)(?:(?!\b(?:and|or|not)\b)[^<>=(),])*(?<!!)[<>]=?",
        "a chained comparison",
        "all_of(a <= b, b <= c)",
    ),
    (r"\bfor\b.*\bif\b", "`if` in a comprehension", "implies(a, b), all_of or choose(c, a, b)"),
    (r"\band\b", "`and`", "all_of(a, b)"),
    (r"\bor\b", "`or`", "any_of(a, b)"),
    (r"\bin\s*[(\[{]", "`in`", "any_of(x == a, x == b)"),
    (
        r"\bnot\s+in\b|\bin\b(?!.*\bfor\b)",
        "`in`",
        "group.contains(member), or any_of(x == a, x == b)",
    ),
    (r"\bnot\b", "`not`", "not_(a)"),
    (r"\bwhile\b", "`while`", "smallest(...), largest(...) or every(...)"),
    (r"\bif\b.*\belse\b", "a conditional expression", "choose(condition, then, otherwise)"),
    (r"\bif\b|\belif\b", "`if`", "require(...) or choose(c, a, b)"),
    (r"\bassert\b", "`assert`", "require(...), or a property"),
    (r"^(match|case)\b", "`match`", "choose(condition, a, b)"),
    (
        r"",
        "asking whether it is true",
        "require(...), choose(...), all_of(...), any_of(...), not_(...)",
    ),
)


@lru_cache(maxsize=1024)
def is_users(file: str, module: str = "") -> bool:
    """Whether code from `file` is neither the language's nor Python's own.

    `module` tells for code that Python makes up, such as that of dataclasses.
    """
    if file.startswith("<"):
        ours = module.startswith((_NAME, "namedtuple_")) or file.startswith("<frozen ")
        return not ours and module.partition(".")[0] not in sys.stdlib_module_names
    library = file.startswith(_LIBRARY) and "-packages" not in file
    return not library and not file.startswith(_LANGUAGE)


def is_users_frame(frame: FrameType) -> bool:
    """Whether the user's code runs in a frame."""
    return is_users(frame.f_code.co_filename, frame.f_globals.get("__name__", ""))


def user_frame() -> FrameType:
    """The innermost frame that is the user's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and not is_users_frame(frame):
        frame = frame.f_back
    return frame


def user_place() -> str:
    """File and line of the innermost code that is the user's."""
    frame = user_frame()
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def refuse(problem: str, at: tuple[str, int] | None = None) -> NoReturn:
    """Raise a `CaptureError` for `problem`, at the user's line or at another file and line."""
    frame = user_frame()
    path, line = at or (frame.f_code.co_filename, frame.f_lineno)
    raise CaptureError(f"{Path(path).name}:{line}: {problem}")


def refuse_truth() -> NoReturn:
    """Raise a `CaptureError` for Python asking whether a symbolic value is true."""
    text = _line_of(user_frame())
    text = re.sub(r"\bfor\b[^()]*?\bin\b", "for", text)
    problem, instead = next((p, i) for pattern, p, i in _REMEDIES if re.search(pattern, text))
    refuse(f"{problem} on a value read from the state: write {instead}")


def _line_of(frame: FrameType) -> str:
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()


def refuse_hashing() -> NoReturn:
    """Raise a `CaptureError` for a captured value in a set, or as a key of a dictionary."""
    if re.search(r"\bin\s*{", _line_of(user_frame())):
        refuse("`in` on a value read from the state: write any_of(x == a, x == b)")
    refuse(
        "a set, a dictionary or hash() of what is read from the state: compare with ==, any_of or "
        "choose, or use group.contains(member)"
    )


def refuse_text() -> None:
    """Raise a `CaptureError` if the user's code asks for a captured value as text.

    Error messages of the language, debuggers and pytest may ask for it.
    """
    caller = sys._getframe(2)
    if watching and is_users_frame(caller):
        refuse("text made of what is read from the state: compare the value itself")


watching = False
"""Whether a capture is under way."""
