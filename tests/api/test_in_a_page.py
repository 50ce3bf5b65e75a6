"""What the page to try Highwater on is told: the same as everywhere, with nothing but Python."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from checker.api.asking import explore
from checker.api.in_a_page import told
from checker.telling.report.html import render_html
from tests.support.scripts import script

SMALL: dict[str, Any] = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
REGISTER = Path(__file__).parents[2] / "docs" / "examples" / "register.py"
IN_THE_BROWSER = """
import sys
sys.modules.update(dict.fromkeys(("resource", "ctypes", "mmap")))  # which it has not
sys.path[:0] = sys.argv[3], sys.argv[1]
import functools
assert functools.__file__.startswith(sys.argv[3])
from checker.api.in_a_page import told
print(told(sys.argv[2]))
"""


@pytest.fixture(autouse=True)
def here_again(tmp_path, monkeypatch):
    """A protocol of one's own is written into a folder of its own, where one is then."""
    place = Path.cwd()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield
    os.chdir(place)


def asked(**question) -> str:
    return json.dumps({"bounds": {}, "max_states": None, "max_seconds": None} | question)


def line(**question) -> str:
    answer = json.loads(told(asked(**question)))
    assert answer["wrong"] is answer["line"].startswith("error: ")
    return str(answer["line"])


def test_the_archive_alone_finds_what_every_engine_finds(tmp_path):
    try_page = script("try_page")
    try_page.write_archive(tmp_path / "a.zip")
    try_page.write_archive(tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "library.zip", "w") as library:  # as the browser has it
        library.write(functools.__file__, "functools.py")
    question = asked(protocol="truncate_to_high_watermark", bounds=SMALL)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", IN_THE_BROWSER, str(tmp_path / "a"), question,
         str(tmp_path / "library.zip")],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    expected = explore("truncate_to_high_watermark", **SMALL)
    answer = json.loads(done.stdout)
    assert answer["line"] == f"{expected.summary}; no shorter trace exists (301 states)"
    (trace,) = expected.traces
    assert answer["traces"] == [{"name": "weak_isr", "page": render_html(trace)}]


def test_a_protocol_of_ones_own_is_read_anew_each_time():
    text = REGISTER.read_text(encoding="utf-8")
    assert line(text=text).startswith("register: exhausted, ")
    wrong = text.replace("setting(True", "setting(False")
    assert "violated: acknowledged_writes_survive after 5 steps" in line(text=wrong)


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("server.up = False", "server.up = 1 // 0", "error: own.py:83: ZeroDivisionError on what"),
        ("server.up = False", "server.upp = False", "error: own.py:83: Server has no variable"),
        ("register.acknowledged ==", "register.acknowledgedd ==", "error: own.py:100: no variable"),
        ("server.value += 1", "server.value += 5", "error: own.py:63: write(server=s0): servers["),
    ],
)
def test_a_mistake_is_told_with_its_line(right, wrong, words):
    text = REGISTER.read_text(encoding="utf-8")
    assert text.count(right) == 1 and line(text=text.replace(right, wrong)).startswith(words)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"text": "x = 1\ndef y(:\n"}, "error: own.py:2: invalid syntax"),
        ({"text": "import nothing_such"}, "error: own.py:1: ModuleNotFoundError: No module named"),
        ({"text": ""}, "error: own.py declares no protocol"),
        ({"protocol": "kip101", "bounds": {"replicas": 0}}, "error: "),
        ({"protocol": "kip101", "bounds": SMALL, "max_states": 9},
         "kip101: unknown, 9 states: stopped by the limit of 9 states"),
    ],
)  # fmt: skip
def test_what_is_wrong_and_what_ended_a_search_is_told_in_one_line(question, words):
    found = line(**question)
    assert found.startswith(words) and "\n" not in found


def test_how_far_a_search_is_is_told_in_words():
    heard: list[str] = []
    told(asked(protocol="kip101", bounds=SMALL), heard.append)
    assert heard[0] == "1 state, 1 step deep"
