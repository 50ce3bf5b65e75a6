"""JUnit tests of our own, run on a release's classes with Kafka's published test fixtures."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from checker.kafka.releases.compile import compile_any
from checker.kafka.releases.fixtures import fixtures
from checker.kafka.releases.jars import Release
from checker.kafka.releases.jdk import BRIEF, java
from model.language.errors import UsageError

SECONDS = 300


@dataclass(frozen=True)
class Outcome:
    """The names of the tests that passed, and of those that failed."""

    passed: frozenset[str]
    failed: frozenset[str]


def run_tests(
    release: Release, sources: Sequence[Path], name: str, patch: Path | None = None
) -> Outcome:
    """What becomes of the tests of one class, compiled against the release as published.

    Without sources it is a class of Kafka's own tests. `patch` is a directory of classes that is
    put before the release's jars when they run. Raises `UsageError` if the tests cannot be
    compiled, or none was run.
    """
    also = fixtures(release)
    classes = compile_any(release, sources, also=also) if sources else None
    path = ":".join(map(str, filter(None, (patch, classes, also, release.classpath))))
    with tempfile.TemporaryDirectory() as reports:
        command = [
            *(java(), *BRIEF, "-Xmx512m", "-cp", path),
            *("org.junit.platform.console.ConsoleLauncher", "execute", "--details", "none"),
            *("--reports-dir", reports, "--select-class", name),
        ]
        subprocess.run(command, capture_output=True, check=False, timeout=SECONDS)
        cases = [
            case
            for report in Path(reports).glob("*.xml")
            for case in ElementTree.parse(report).iter("testcase")
        ]
    if not cases:
        raise UsageError(f"no test of {name} was run on Kafka {release.version}")
    failed = {_name(case) for case in cases if {"failure", "error"} & {part.tag for part in case}}
    return Outcome(frozenset(map(_name, cases)) - failed, frozenset(failed))


def _name(case: ElementTree.Element) -> str:
    return case.attrib["name"].removesuffix("()")
