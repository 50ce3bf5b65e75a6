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
BROUGHT_BY = {
    "anyio": "mcp",
    "crc32c": "audit",
    "cvc5": "cvc5",
    "duckdb": "query",
    "flask": "browse",
    "hypothesis": "test",
    "kafka": "audit",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "py4j": "spark",
    "pyarrow": "query",
    "pysat": "sat",
    "pyspark": "spark",
    "werkzeug": "browse",
    "z3": "prove",
}
"""The extra of each library that some commands do without, by what is imported of it."""


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


def require(what: str, *modules: str) -> None:
    """`UsageError` in one line if a module is missing: `what`, and the extra that brings it."""
    missing = [BROUGHT_BY[module] for module in modules if find_spec(module) is None]
    if missing:
        raise UsageError(f"{what}: {how_to_install(*dict.fromkeys(missing))}")


def remedy(error: ModuleNotFoundError) -> str:
    """The same line where an import failed that nobody asked for before; empty if it is no extra's.

    >>> remedy(ModuleNotFoundError(name="z3.z3core"))
    "this needs z3: pip install 'highwater-kafka[prove]'"
    """
    module = (error.name or "").partition(".")[0]
    extra = BROUGHT_BY.get(module)
    return f"this needs {module}: {how_to_install(extra)}" if extra else ""
