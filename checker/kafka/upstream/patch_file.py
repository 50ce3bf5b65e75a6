"""A fix as a unified diff against a release's sources, as `git apply` and `patch -p1` take it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import unified_diff

from checker.kafka.releases.patch import Changed
from checker.kafka.upstream.tree import main_folder


def unified(changed: Iterable[Changed]) -> str:
    """The diff of these sources, with their paths in Kafka's tree; empty without a change."""
    return "".join(line for each in changed for line in _of(each))


def _of(changed: Changed) -> Iterator[str]:
    path = f"{main_folder(changed.module, changed.file)}/{changed.file}"
    before, after = changed.before.splitlines(True), changed.after.splitlines(True)
    for line in unified_diff(before, after, f"a/{path}", f"b/{path}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
