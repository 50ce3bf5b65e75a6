"""Builds what a release consists of, checks it, and only then puts it into `dist/`.

The sdist, the wheel that it builds, and what the wheel brings along as a CycloneDX bill of
materials. `make release` installs the tools; nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
VIOLATED = 12
"""The exit status of a search that finds a bug."""


def check_changelog(changelog: str, version: str) -> None:
    """End with one line unless the changelog's first release is this version."""
    first = re.search(r"^## (\S+)", changelog, re.MULTILINE)
    if first is None or first[1] != version:
        told = first[1] if first else "none"
        raise SystemExit(f"release: pyproject.toml says {version}, docs/changelog.md {told}")


def check_same(one: Path, other: Path) -> None:
    """End with one line unless two files hold the same bytes."""
    if one.read_bytes() != other.read_bytes():
        raise SystemExit(f"release: the sdist builds another {one.name} than the tree does")


def build(place: Path) -> tuple[Path, Path]:
    """The sdist and the wheel that it builds, which is the one that the tree builds."""
    _python("build", "--outdir", place, ROOT)
    _python("build", "--wheel", "--outdir", place / "of the tree", ROOT)
    (sdist,), (wheel,) = place.glob("*.tar.gz"), place.glob("*.whl")
    check_same(wheel, place / "of the tree" / wheel.name)
    return sdist, wheel


def bill_of_materials(wheel: Path, place: Path) -> Path:
    """What an environment has in which the wheel alone was installed, and found a bug."""
    environment = place / "environment"
    venv.create(environment)
    python = environment / "bin" / "python"
    _python("pip", "--python", python, "install", "--quiet", "--no-compile", wheel)
    found = subprocess.run(
        [environment / "bin" / "highwater", "explore", "kip101", "--quiet"],
        cwd=environment, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if found.returncode != VIOLATED:
        raise SystemExit(f"{found.stderr}\nrelease: the wheel alone finds no bug in kip101")
    bill = place / f"{'-'.join(wheel.name.split('-')[:2])}.cdx.json"
    _python(
        "cyclonedx_py", "environment", python, "--pyproject", ROOT / "pyproject.toml",
        "--output-reproducible", "-o", bill,
    )  # fmt: skip
    return bill


def _python(module: str, *arguments: str | Path) -> None:
    """Run a tool with the pinned versions; end with what it said if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        env={**os.environ, "PIP_CONSTRAINT": CONSTRAINTS.as_uri(), "NO_COLOR": "1"},
        check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}\nrelease: {module} ended with status {done.returncode}")


def main() -> None:
    """Build, check, and move into the folder, from which files of earlier builds go."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "dist", metavar="FOLDER")
    into = parser.parse_args().into
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "docs" / "changelog.md").read_text(encoding="utf-8")
    check_changelog(changelog, project["version"])
    with tempfile.TemporaryDirectory(prefix="highwater-release-") as folder:
        sdist, wheel = build(Path(folder))
        _python("twine", "check", "--strict", sdist, wheel)
        _python("check_wheel_contents", wheel)
        built = (sdist, wheel, bill_of_materials(wheel, Path(folder)))
        into.mkdir(parents=True, exist_ok=True)
        for old in into.glob(f"{project['name'].replace('-', '_')}-*"):
            old.unlink()
        for file in built:
            shutil.copyfile(file, into / file.name)
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            print(f"{digest}  {file.name}  {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
