"""Highwater: a model checker for Kafka's replication protocol, and for protocols of one's own.

What users import. `highwater.language` and `highwater.claims` are what protocols are written in,
`highwater.testing` is for test files, and `ask`, `explore`, `simulate`, `prove`, `graph`, `losses`
and `explain` ask from a script or a notebook, and `run` makes a trace. `docs/api.md` describes all;
everything else may change from one release to the next.

Imports nothing: Ctrl-C that comes before `highwater.__main__` runs shows Python's own traceback.
"""

TYPE_CHECKING = False  # type checkers take it for true, as they do that of the slow `typing`
if TYPE_CHECKING:
    from checker.api.applications import ask_application
    from checker.api.asking import (
        Answer,
        ask,
        explain,
        explore,
        graph,
        losses,
        prove,
        run,
        simulate,
    )

__all__ = [
    "Answer", "__version__", "ask", "ask_application", "ask_controllers", "explain", "explore",
    "graph", "losses", "prove", "run", "simulate",
]  # fmt: skip
_ELSEWHERE = {"ask_application": "checker.api.applications"}
"""Where what is not in `asking` is; whole names, which the wheel has others of."""


def __getattr__(name: str) -> object:
    """The functions when they are asked for: the command line imports this package too."""
    if name == "__version__":
        from checker.distribution import highwater_version

        return highwater_version()
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(_ELSEWHERE.get(name, "checker.api.asking")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
