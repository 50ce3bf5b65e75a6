"""How tests start `highwater` in a process of its own."""

from __future__ import annotations

import sys

ENTRY = "from checker.commands.cli import main; main()"


def highwater_command(*arguments: str, entry: str = ENTRY) -> list[str]:
    """The command line; `entry` is a program that does something else before it begins."""
    return [sys.executable, "-c", entry, *arguments]
