"""Protocols of one's own, by name: a file, a module, or what an installed package adds.

`FILE.py[:NAME]` is a file, `module:NAME` a module that can be imported from here, and a plain name
is an entry point of the group `highwater.protocols`. Nothing that a trace or store says is loaded:
only names that the user gives come here. `docs/decisions/0060-protocols-of-ones-own.md` says why.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from model.language import Action, Protocol
from model.language.errors import HighwaterError, ProtocolError, UsageError, is_placed, unknown_name
from model.language.protocol import Claim

if TYPE_CHECKING:
    from importlib import metadata

ENTRY_POINTS = "highwater.protocols"
FORMS = "FILE.py, FILE.py:NAME, module:NAME"
_FILE = re.compile(r"(?P<place>.*\.py)(?::(?P<name>[^:/\\]*))?", re.DOTALL)
_MODULE = re.compile(r"(?P<place>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)")


def is_own(name: str) -> bool:
    """Whether a name is of the form that a protocol of one's own has, or an entry point."""
    return bool(_FILE.fullmatch(name) or _MODULE.fullmatch(name)) or name in entry_points()


def file_in(name: str) -> str | None:
    """The file that a name begins with, as in `FILE.py:NAME`; none if it is of another form."""
    match = _FILE.fullmatch(name)
    return match["place"] if match else None


def is_module(name: str) -> bool:
    """Whether a name is of the form `module:NAME`: whatever is installed may be meant."""
    return file_in(name) is None and _MODULE.fullmatch(name) is not None


@cache
def entry_points() -> dict[str, metadata.EntryPoint]:
    """What installed packages add, by name."""
    from importlib import metadata  # takes a while, and few runs need it

    return {point.name: point for point in metadata.entry_points(group=ENTRY_POINTS)}


def own_protocol(name: str) -> Protocol:
    """The protocol that the name finds; `UsageError` or `ProtocolError` in one line if none."""
    if match := _FILE.fullmatch(name):
        module = _of_file(Path(match["place"]))
        return _in_module(module, match["place"], match["name"])
    if match := _MODULE.fullmatch(name):
        return _in_module(_imported(match["place"]), match["place"], match["name"])
    point = entry_points()[name]
    return _in_module(_imported(point.module), point.module, point.attr)


def protocols_in(path: Path) -> dict[str, Protocol]:
    """Every protocol that a file declares, by the name of its variable."""
    module = _of_file(path)
    declared = _declared(module, str(path))
    _refuse_forgotten(module, str(path), declared.values())
    return declared


def reference_to(protocol: Protocol) -> str:
    """A name that finds the same protocol again, by where it was declared; empty if none does."""
    module = sys.modules.get(protocol.module)
    names = [name for name, value in vars(module).items() if value is protocol] if module else []
    if module is None or not names:
        return ""
    file = getattr(module, "__file__", None)
    if module.__package__ or not file:
        return f"{module.__name__}:{names[0]}"
    near = os.path.relpath(file)
    return f"{file if near.startswith('..') else near}:{names[0]}"


def files_of(protocol: Protocol) -> dict[str, str]:
    """The file that declares a protocol and those beside it that it imports, by relative path.

    The protocol's own file is the first. Empty for protocols of installed packages.
    """
    module = sys.modules.get(protocol.module)
    file = getattr(module, "__file__", None)
    if module is None or module.__package__ or not file:
        return {}
    folder = Path(file).resolve().parent
    found = {Path(file).name: Path(file).read_text(encoding="utf-8")}
    for other in list(sys.modules.values()):
        path = _path_of(other)
        if path is not None and path.is_relative_to(folder) and "site-packages" not in path.parts:
            if other.__name__.partition(".")[0] not in _ours():
                found.setdefault(str(path.relative_to(folder)), path.read_text(encoding="utf-8"))
    return found


def _ours() -> set[str]:
    return {"model", "properties", "checker", __name__.partition(".")[0]}


# --- loading -------------------------------------------------------------------------------------


def _of_file(path: Path) -> ModuleType:
    """The module in a file, run once; the same one if the file is imported already."""
    if not path.is_file():
        raise UsageError(f"cannot read the protocol {str(path)!r}: there is no such file")
    where = path.resolve()
    known = _loaded(where)
    if known is not None:
        return known
    name = f"{where.stem}_{hashlib.sha256(str(where).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, where)
    if spec is None or spec.loader is None:
        raise UsageError(f"cannot read the protocol {str(path)!r}: it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _path_begins_with(where.parent):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        del sys.modules[name]
        raise _told(error, str(path), where) from error
    return module


def _loaded(file: Path) -> ModuleType | None:
    """The module that was made of this file, if there is one: a protocol is one object."""
    where = file.resolve()
    named = (m for name, m in list(sys.modules.items()) if name != "__main__")
    return next((module for module in named if _path_of(module) == where), None)


def _imported(name: str) -> ModuleType:
    try:
        with _path_begins_with(Path.cwd()):
            if name not in sys.modules:
                spec = importlib.util.find_spec(name)
                known = _loaded(Path(spec.origin)) if spec and spec.origin else None
                if known is not None:
                    return known
            return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
            raise UsageError(
                f"no module is called {name!r} here or among what is installed"
            ) from None
        spec = importlib.util.find_spec(name) if "." not in name else None
        raise _told(error, name, Path(spec.origin) if spec and spec.origin else None) from error


@contextmanager
def _path_begins_with(folder: Path) -> Iterator[None]:
    """Modules beside the file can be imported, as by a script."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _path_of(module: object) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if isinstance(file, str) and file.endswith(".py") else None


def _told(error: BaseException, name: str, file: Path | None) -> HighwaterError:
    """What went wrong while a file ran, with the line of the file that did it."""
    where = name
    if isinstance(error, SyntaxError):
        if error.lineno:
            where = f"{_near(error.filename) if error.filename else name}:{error.lineno}"
        problem = error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f.lineno for f in frames if file and Path(f.filename).resolve() == file]
        where = f"{name}:{lines[-1]}" if lines else name
        problem = str(error) if isinstance(error, HighwaterError) else _said(error)
        if isinstance(error, HighwaterError) and is_placed(problem):
            return ProtocolError(problem)
    return ProtocolError(f"{where}: {' '.join(problem.split())}")


def _near(file: str) -> str:
    near = os.path.relpath(file)
    return file if near.startswith("..") else near


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


# --- what a module declares ----------------------------------------------------------------------


def _in_module(module: ModuleType, place: str, name: str | None) -> Protocol:
    found = _protocols(module, place)
    _refuse_forgotten(module, place, found.values())
    if name:
        by_name = {protocol.name: protocol for protocol in found.values()} | found
        if name not in by_name:
            raise unknown_name(f"protocol in {place}", name, found)
        return by_name[name]
    declared = _declared(module, place)
    if len(set(declared.values())) > 1:
        raise UsageError(f"{place} declares {', '.join(declared)}: say which, as {place}:NAME")
    return next(iter(declared.values()))


def _protocols(module: ModuleType, place: str) -> dict[str, Protocol]:
    found = {k: v for k, v in vars(module).items() if isinstance(v, Protocol)}
    if not found:
        raise UsageError(f"{place} declares no protocol: write NAME = Protocol(...)")
    return found


def _declared(module: ModuleType, place: str) -> dict[str, Protocol]:
    """The module's own protocols, or where it has none, those that it imports."""
    found = _protocols(module, place)
    return {k: v for k, v in found.items() if v.module == module.__name__} or found


def _refuse_forgotten(module: ModuleType, place: str, protocols: Iterable[Protocol]) -> None:
    """An action or property that no protocol lists would never be run, and nobody would know."""
    chosen = list(protocols)
    listed = {id(e) for p in chosen for e in (*p.actions, *p.properties, *p.lemmas)}
    for value in vars(module).values():
        if not isinstance(value, Action | Claim) or id(value) in listed:
            continue
        function = value.function if isinstance(value, Action) else value.claim
        if function.__module__ == module.__name__:
            what = "action" if isinstance(value, Action) else "property"
            raise ProtocolError(
                f"{place}:{function.__code__.co_firstlineno}: the {what} {value.name} is in no "
                f"protocol: list it among the {'actions' if what == 'action' else 'properties'} "
                f"of {', '.join(p.name for p in dict.fromkeys(chosen))}"
            )
