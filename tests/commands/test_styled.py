"""What is written without rich is what rich writes, and a small search does not load it."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from checker.commands.styled import Grid, Styled, plain_text
from checker.commands.summary_text import as_written

WIDTH = 20
CASES = settings(max_examples=60, deadline=None, database=None)


def by_rich(*parts: Styled | Grid) -> str:
    """The parts as a console without colours writes them."""
    console = Console(
        file=io.StringIO(), width=WIDTH, color_system=None, force_terminal=False,
        highlight=False, markup=False, emoji=False,
    )  # fmt: skip
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    return as_written(capture.get(), console)


WORDS = st.sampled_from(["a", "of", "four,", "nine nine", "b" * 9, "c" * 10, " ", "", "\n"])


@CASES
@given(
    st.lists(
        st.text("ab,  \n", max_size=60) | st.lists(WORDS, max_size=12).map(" ".join), max_size=3
    )
)
@example(["c" * 10 + " " + "b" * 9 + " of"])
def test_text_folds_as_rich_folds_it(texts: list[str]) -> None:
    parts = [Styled(text[:5], (text[5:], "red")) for text in texts]
    told = plain_text(parts, WIDTH)
    if told is None:
        assert any(len(word) > WIDTH for text in texts for word in text.split())
    else:
        assert told == by_rich(*parts)


@CASES
@given(st.lists(st.tuples(st.text("ab ", max_size=9), st.text("12,", max_size=9)), max_size=4))
def test_tables_are_as_rich_writes_them(rows: list[tuple[str, str]]) -> None:
    table = Grid("name", "number", numbers=1)
    for name, number in rows:
        table.add_row(Styled(name).append("", "red"), number)
    told = plain_text([table], WIDTH)
    assert told == by_rich(table)


@pytest.mark.parametrize("words", ["é", "日本", "a\tb", "a\x1bb", "a" * (WIDTH + 1)])
def test_what_rich_alone_can_write_is_left_to_it(words: str) -> None:
    table = Grid("name")
    table.add_row(words)
    assert plain_text([Styled(words)], WIDTH) is None
    assert plain_text([table], WIDTH) is None


def test_a_search_without_a_trace_loads_no_rich() -> None:
    program = (
        "import sys; sys.argv[1:] = ['explore', 'kip320', '--depth', '1', '--no-cross-check']\n"
        "try: import highwater.__main__ as m; m.main()\n"
        "except SystemExit: print('rich' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "False"
    assert "bounded: nothing is violated within 1 step" in done.stdout
