"""Annotations as the objects that they name, also of classes and functions inside a function."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

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
        return inspect.get_annotations(owner, locals=dict(local), eval_str=True)
    except NameError as error:
        raise ProtocolError(f"{what}: {error}") from error
