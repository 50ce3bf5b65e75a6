"""The directory of a finding's ticket: all of it is written, or nothing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.core.files import prepare_directory
from checker.kafka.releases.patch import Unit, changed_sources
from checker.kafka.upstream.finding import Finding
from checker.kafka.upstream.patch_file import unified
from checker.kafka.upstream.run_script import run_script
from checker.kafka.upstream.text import text_of
from checker.kafka.upstream.tree import part_of
from checker.kafka.upstream.unit_tests import UnitFile, package_of, sources_of, unit_files
from model.language.errors import UsageError

TICKET, PATCH, SCRIPT = "ticket.md", "fix.patch", "run.sh"


@dataclass(frozen=True)
class Ticket:
    """What is attached, by its path in the directory."""

    finding: Finding
    version: str
    files: dict[str, str]


def ticket_of(finding: Finding, asked: str | None, every: Sequence[Finding]) -> Ticket:
    """The ticket of a finding, of all of them, for a release; sources are brought on first use.

    Raises `UsageError` for a release that has not got it, or that its fix was not written for, or
    whose sources cannot be brought.
    """
    version = finding.release(asked)
    changed = changed_sources(version, finding.fixes.values())
    units = _units(finding, version)
    tests = _tests(units, version)
    titles = {each.number: each.summary for each in every}
    found = {TICKET: text_of(finding, version, changed, units, titles)}
    if changed:
        found[PATCH] = unified(changed)
    found |= {test.path: test.text for test in tests}
    if changed and tests:
        name = finding.summary, finding.number
        found[SCRIPT] = run_script(*name, version, changed, units, tests)
    return Ticket(finding, version, found)


def _units(finding: Finding, version: str) -> dict[str, Unit]:
    """The tests of all its fixes that are of this release, by the full name of their class."""
    found: dict[str, Unit] = {}
    for unit in (fix.unit for fix in finding.fixes.values() if fix.unit is not None):
        name = f"{package_of(sources_of(unit.name, version)[0])}.{unit.name}"
        old = found.get(name, Unit(unit.name, ()))
        found[name] = Unit(unit.name, old.fails + unit.fails, old.passes + unit.passes)
    return found


def _tests(units: dict[str, Unit], version: str) -> list[UnitFile]:
    return [
        file
        for name, unit in units.items()
        for file in unit_files(
            unit.name, version, (*unit.fails, *unit.passes),
            part_of(name.replace(".", "/")).folder,
        )
    ]  # fmt: skip


def check_free(directory: Path) -> None:
    """Raises `UsageError` if something is there that would be written over."""
    if directory.is_symlink() or (directory.exists() and not directory.is_dir()):
        raise UsageError(f"{directory} is no directory: name one that is new or empty")
    if directory.is_dir() and any(directory.iterdir()):
        raise UsageError(f"{directory} is not empty: name a directory that is new or empty")


def write(ticket: Ticket, directory: Path) -> None:
    """Write the files, of which `run.sh` can be executed: all of them at once, or none.

    Raises `UsageError` if something is there already, or the directory cannot be made.
    """
    check_free(directory)
    parent = directory.absolute().parent
    prepare_directory(parent)
    beside = Path(tempfile.mkdtemp(prefix=f".{directory.name[:100]}.", dir=parent))
    try:
        for name, text in ticket.files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755 if name == SCRIPT else 0o644)
        beside.chmod(0o755)
        check_free(directory)
        beside.rename(directory)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
