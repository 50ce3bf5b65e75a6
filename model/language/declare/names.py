"""Annotations as the objects that they name, also of classes and functions inside a function."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ForwardRef, get_args, get_origin

from model.language.errors import ProtocolError


def local_names() -> dict[str, Any]:
    """The local names where the caller was called from, if that is not the top of a module."""
    frame = sys._getframe(2)
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def annotations_of(
    owner: type | Callable[..., Any], local: Mapping[str, Any], what: str
) -> dict[str, Any]:
    """The annotations of a class or function that was written where the `local` names are."""
    try:
        found = inspect.get_annotations(owner, locals=dict(local), eval_str=True)
        names = {**getattr(sys.modules.get(owner.__module__), "__dict__", {}), **local}
        return {name: _without_quotes(annotation, names) for name, annotation in found.items()}
    except NameError as error:
        raise ProtocolError(f"{what}: {error}") from error


def _without_quotes(annotation: Any, names: dict[str, Any]) -> Any:
    """The annotation with what it has in quotes in brackets, `SetOf["Node"]`, as what is named."""
    if isinstance(annotation, ForwardRef):
        return eval(annotation.__forward_arg__, names)
    arguments = get_args(annotation)
    if not any(isinstance(each, ForwardRef) for each in arguments):
        return annotation
    return get_origin(annotation)[tuple(_without_quotes(each, names) for each in arguments)]


def line_of_field(owner: type, name: str) -> str:
    """File and line where a class, or one of its bases, annotates a name; empty if unknown."""
    for kind in owner.__mro__:
        if name not in inspect.get_annotations(kind):
            continue
        try:
            lines, first = inspect.getsourcelines(kind)
        except (OSError, TypeError):
            return ""
        found = (n for n, line in enumerate(lines, first) if re.match(rf"\s+{name}\s*:", line))
        return f"{Path(inspect.getfile(kind)).name}:{next(found, first)}"
    return ""
