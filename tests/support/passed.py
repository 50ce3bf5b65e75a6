"""Which tests have passed on the tree as it is, and in how many seconds.

Whoever breaks the tree, to see a test fail, has to know that it passes otherwise, and how long that
takes. What the session before has run need not be run again for that.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

TREE = (
    "model", "properties", "checker", "tests", "counterexamples", "docs", "scripts",
    "pyproject.toml",
)  # fmt: skip
"""What tests depend on: files, and folders with all that is in them."""
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


class Recorder:
    """A pytest plugin that stores which tests passed in a session, beside those of before."""

    def __init__(self, root: Path, begun: float) -> None:
        self.root, self.begun = root, begun
        self.seconds: dict[str, float] = {}
        self.others: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Each phase of a test counts: it has passed if all of them have."""
        name = _GROUP.sub("", report.nodeid)
        self.seconds[name] = self.seconds.get(name, 0.0) + report.duration
        if not report.passed:
            self.others.add(name)

    def pytest_sessionfinish(self) -> None:
        """Store them, if the tree is still the one that they passed on."""
        tree = digest(self.root, self.begun) if self.seconds else ""
        if tree:
            known = _of_tree(self.root, tree) | self.seconds
            passed = {name: taken for name, taken in known.items() if name not in self.others}
            path = _stored(self.root)
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps({"tree": tree, "seconds": passed}), encoding="utf-8")
