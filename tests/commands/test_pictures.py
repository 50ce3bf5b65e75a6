"""The pictures in the documentation are those that the commands beside them draw."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
DRAWN = re.compile(r"^    highwater (.* docs/pictures/\S+\.svg)$", re.M)
PAGES = [page.read_text() for page in sorted(DOCS.glob("*.md"))]
COMMANDS = [found.split() for page in PAGES for found in DRAWN.findall(page)]


def test_each_stored_picture_stands_beside_its_command():
    stored = {path.relative_to(DOCS.parent).as_posix() for path in DOCS.glob("pictures/*.svg")}
    assert stored == {command[-1] for command in COMMANDS}


@pytest.mark.nightly("ten seconds a picture")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: Path(command[-1]).stem)
def test_the_stored_pictures_are_drawn_anew(tmp_path, command):
    """In a process of its own: which lemmas Z3 uses may depend on what it was asked before."""
    *arguments, stored = command
    anew = tmp_path / "anew.svg"
    subprocess.run([sys.executable, "-m", "highwater", *arguments, anew, "--quiet"], check=True)
    assert anew.read_text() == (DOCS.parent / stored).read_text()
