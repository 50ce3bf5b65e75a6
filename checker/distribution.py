"""What this project is called where pip finds it, and what is to be installed for a command.

On Python's package index `highwater` is another project, so the distribution has a name of its own;
what is imported and run is `highwater` all the same. Every text that tells people what to install
takes the name from here.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec

from model.language.errors import UsageError

NAME = "highwater-kafka"


@lru_cache
def highwater_version() -> str:
    """The version of this installation; `unknown` where none is installed."""
    from importlib import metadata  # takes a while

    try:
        return metadata.version(NAME)
    except metadata.PackageNotFoundError:
        return "unknown"


def how_to_install(*extras: str) -> str:
    """The command that adds extras to this installation, as it goes after a colon."""
    return f"pip install '{NAME}[{','.join(extras)}]'"


def require(what: str, extra: str, *modules: str) -> None:
    """`UsageError` in one line, `what` and the extra that brings it, if a module is missing."""
    if any(find_spec(module) is None for module in modules):
        raise UsageError(f"{what}, which is not installed: {how_to_install(extra)}")
