"""The page about exports is true word for word: commands, Spin among them, and what they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_documentation import DOCS, pattern_of


@pytest.mark.slow
def test_the_page_about_exports_is_true_word_for_word(tmp_path):
    page = (DOCS / "export.md").read_text(encoding="utf-8")
    (console,) = re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    calls = re.split(r"^(?=\$ )", console, flags=re.MULTILINE)[1:]
    assert len(calls) == 5
    for call in calls:
        command, _, expected = call.removeprefix("$ ").partition("\n")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            command.split(), cwd=tmp_path, env={**os.environ, "PATH": path}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
        )  # fmt: skip
        assert re.fullmatch(pattern_of(expected), done.stdout), (command, done.stdout)
    assert "States to expect: 737,794" in (tmp_path / "Kip320.tla").read_text(encoding="utf-8")
