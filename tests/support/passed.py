"""Which tests have passed on the tree as it is, and in how many seconds.

Whoever breaks the tree, to see a test fail, has to know that it passes otherwise, and how long that
takes. What the session before has run need not be run again for that. A night that was cut short
goes on where it ended.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from pathlib import Path

import pytest

TREE = (
    "model", "properties", "checker", "tests", "counterexamples", "docs", "scripts",
    "action.yml", "pyproject.toml", "constraints.txt", "Dockerfile", ".dockerignore", "README.md",
    "LICENSE",
)  # fmt: skip
"""What tests depend on: files, and folders with all that is in them."""
STORED_EVERY = 60.0
"""Seconds after which what has passed is stored anew, so that a killed session loses no more."""
_GROUP = re.compile(r"@[^@\]]*$")  # what xdist adds to the name of a test that is in a group


def digest(root: Path, since: float = 0.0) -> str:
    """Of all files of the tree; empty if one of them has changed after `since`, in seconds."""
    found = hashlib.sha256()
    for name in TREE:
        for path in sorted([root / name, *(root / name).rglob("*")]):
            if path.is_file() and "__pycache__" not in path.parts:
                if since and path.stat().st_mtime > since:
                    return ""
                found.update(f"{path.relative_to(root)}\0".encode())
                found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _stored(root: Path) -> Path:
    return root / ".pytest_cache" / "passed.json"


def seconds_of_passed(root: Path) -> dict[str, float]:
    """The tests that have passed on this very tree, with the seconds that each took."""
    return _of_tree(root, digest(root))


def _of_tree(root: Path, tree: str) -> dict[str, float]:
    try:
        stored = json.loads(_stored(root).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    passed: dict[str, float] = stored["seconds"]
    return passed if stored["tree"] == tree else {}


def seconds_of(test: str, passed: dict[str, float]) -> float | None:
    """What a test took, with any parameters; `None` if it is not among those that passed."""
    taken = [s for name, s in passed.items() if name == test or name.startswith(f"{test}[")]
    return sum(taken) if taken else None


def without_group(nodeid: str) -> str:
    """The name of a test without the group that xdist adds to it."""
    return _GROUP.sub("", nodeid)


class Recorder:
    """A pytest plugin that stores which tests passed in a session, beside those of before."""

    def __init__(self, root: Path, begun: float) -> None:
        self.root, self.begun = root, begun
        self.stored = begun
        self.seconds: dict[str, float] = {}
        self.others: set[str] = set()
        self.ended: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Each phase of a test counts: it has passed if all of them have."""
        name = without_group(report.nodeid)
        self.seconds[name] = self.seconds.get(name, 0.0) + report.duration
        if not report.passed:
            self.others.add(name)
        if report.when == "teardown":
            self.ended.add(name)
            if time.time() > self.stored + STORED_EVERY:
                self.store()

    def pytest_sessionfinish(self) -> None:
        """What came last is stored as well."""
        self.store()

    def store(self) -> None:
        """Store what passed, if the tree is still the one that it passed on."""
        self.stored = time.time()
        tree = digest(self.root, self.begun) if self.ended else ""
        if tree:
            now = {name: self.seconds[name] for name in self.ended}
            known = _of_tree(self.root, tree) | now
            passed = {name: taken for name, taken in known.items() if name not in self.others}
            path = _stored(self.root)
            path.parent.mkdir(exist_ok=True)
            written = path.with_suffix(".new")
            written.write_text(json.dumps({"tree": tree, "seconds": passed}), encoding="utf-8")
            written.replace(path)
