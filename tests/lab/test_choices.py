"""What people write in TOML for this project: what is not as it has to be is told in one line."""

from __future__ import annotations

import pytest

from checker.core.search.limits import Limits
from checker.lab.experiments.cases import CASE_FILE, read_case
from checker.lab.experiments.matrix import read_matrix
from checker.lab.experiments.scenarios import read_scenario
from model.language.errors import UsageError

CASE = "title = 't'\nsource = 's'\nstory = 's'\nviolates = 'v'\n"
MATRIX = "title = 't'\nprotocol = 'kafka'\n"


def case(path):
    return read_case(path.parent)


def matrix(path):
    return read_matrix(path, Limits())


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (case, CASE, "no 'broken'"),
        (case, CASE + "broken = 'kafka'", "broken has to be a table"),
        (read_scenario, "run = ['kafka']", r"run has to be tables, .* and not \['kafka'\]"),
        (read_scenario, "[run]", "run has to be tables"),
        (read_scenario, "names = 1", "names has to be a table"),
        (matrix, MATRIX + "row = ['a']", "row has to be tables"),
        (matrix, MATRIX + "[[row]]\nbounds = 1", "bounds has to be a table"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_told_with_the_file(tmp_path, read, text, message):
    path = tmp_path / CASE_FILE
    path.write_text(text)
    with pytest.raises(UsageError, match=rf"^{path}: {message}"):
        read(path)
