"""A fresh machine: no machine code is kept yet. Commands end as they do where it is."""

from __future__ import annotations

import shlex

import pytest

from checker.core.exits import Exit
from tests.support import readme

WITH_KAFKA = {"reproduce", "conform"}
"""What runs Kafka itself, whose jars a fresh machine lacks: `make test-kafka` runs it."""

FIRST = [shlex.split(command) for command in readme.commands()]
FIRST = [words if words[0] == "explore" else words[1:] for words in FIRST]
"""Without `highwater`; `explore` is also a command of its own."""
FIRST = [words for words in FIRST if words[0] not in WITH_KAFKA]
# It ends before the machine code that it asks for is compiled.
ENDS_EARLY = ["explore", "kafka", "--crashes", "2", "--false-fencings", "1", "--symmetry"]


OTHERS = "other commands begin as these do, and README's are run on every change"


def listed(words):
    marks = [] if words is FIRST[0] else [pytest.mark.slow]
    if words not in (FIRST[0], ENDS_EARLY, ["prove", "kafka"]):
        marks = [pytest.mark.nightly(OTHERS)]
    return pytest.param(words, id=" ".join(words), marks=marks)


def test_the_readme_shows_more_than_searches():
    assert {words[0] for words in FIRST} >= {"explore", "ask", "prove"}


@pytest.mark.parametrize("words", [listed(words) for words in (*FIRST, ENDS_EARLY)])
def test_a_command_that_begins_with_an_empty_cache(finish, tmp_path, words):
    (tmp_path / "topic.txt").write_text(readme.TOPIC)
    ended = finish(*words, cwd=tmp_path, env={"HIGHWATER_CACHE": str(tmp_path / "cache")})
    assert ended.status in (Exit.OK, Exit.VIOLATED), ended.err
    assert "error" not in ended.err
