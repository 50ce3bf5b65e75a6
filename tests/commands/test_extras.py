"""What a command says where the library of an extra is missing: one line, and what to install."""

from importlib import util

import pytest

from checker import distribution
from checker.commands import cli
from checker.core.exits import Exit
from tests.support.extras import ASKED


@pytest.mark.parametrize(("extra", "line"), ASKED)
def test_a_command_asks_for_its_extra_by_name(
    extra, line, highwater, monkeypatch, tmp_path, tmp_path_factory
):
    monkeypatch.setenv("HIGHWATER_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        distribution,
        "find_spec",
        lambda name: None if name in distribution.BROUGHT_BY else util.find_spec(name),
    )
    ended = highwater(*line.split())
    assert (ended.status, ended.out) == (Exit.USAGE, "")
    assert ended.err.endswith(f": pip install 'highwater-kafka[{extra}]'\n")
    assert ended.err.count("\n") == 1
    assert [*tmp_path.iterdir()] == []


def test_an_import_that_nobody_asked_for_before_is_told_alike(highwater, monkeypatch):
    def needs(name):
        def fail(*_, **__):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        monkeypatch.setattr(cli.highwater, "main", fail)
        return highwater("list")

    ended = needs("z3.z3core")
    assert (ended.status, ended.err) == (
        Exit.USAGE,
        "error: this needs z3: pip install 'highwater-kafka[prove]'\n",
    )
    assert needs("checker.nowhere").status == Exit.INTERNAL
