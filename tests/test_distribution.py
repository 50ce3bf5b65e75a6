"""The name under which people install this project: no text leads them to another one."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from checker import distribution
from model.language.errors import UsageError

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
KINDS = {".cfg", ".html", ".ipynb", ".js", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yml"}
NAMES = ("Dockerfile", "Makefile")
FOLDERS = ("checker", "docs", "model", "properties", "scripts", "tests", ".github", ".ci")
OF_THE_RULE = {Path(__file__), ROOT / "tests" / "mutants" / "mutants.toml"}

# What begins a command that fetches by name.
FETCHES = re.compile(
    r"\b(?:uvx|pipx (?:run|install)|uv (?:add|tool run|tool install)"
    r"|(?:uv )?pip3? (?:install|download|wheel))(?=\s)"
)
OTHER = re.compile(r"""["']?highwater["']?(?:$|[\[=<>~!@,.;:)"'\\])""")


def fetched_elsewhere(text: str) -> list[str]:
    """Commands in a text that fetch `highwater` from an index, where that is another project."""
    spans = (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text))
    found = [span for span in (*text.splitlines(), *spans) if any(map(_is_wrong, _commands(span)))]
    return found + re.findall(r"(?<![\w./-])highwater\[[a-z].*", text)


def _commands(line: str) -> Iterator[list[str]]:
    for match in FETCHES.finditer(line):
        yield re.split(r"[`|&;#]", line[match.end() :])[0].split()


def _is_wrong(words: list[str]) -> bool:
    """Whether a word names the other project, unless what is fetched was named before."""
    for word in words:
        if word in ("--from", "--spec"):
            return len(words) < 2 or bool(OTHER.match(words[words.index(word) + 1]))
        if OTHER.match(word):
            return True
    return False


@pytest.mark.parametrize(
    "text",
    [
        "pip install highwater",
        "python -m pip install -q 'highwater'",
        "      - run: pip install 'highwater[test]'",
        "say: `pip install\n'highwater[audit]'`.",
        "    uvx highwater explore kip101",
        "uvx --python 3.12 highwater",
        "uvx --from highwater highwater",
        "pipx run highwater explore",
        "uv tool install highwater==0.1.0",
        "it takes highwater[prove]",
        'x = "pip install highwater"',
    ],
)
def test_a_line_that_fetches_the_other_project_is_noticed(text):
    assert fetched_elsewhere(text) != []


@pytest.mark.parametrize(
    "text",
    [
        "pip install 'highwater-kafka[test]'",
        "pip install dist/highwater_kafka-0.1.0-py3-none-any.whl && highwater explore kip101",
        "uvx --from dist/highwater_kafka-0.1.0-py3-none-any.whl highwater explore kip101",
        "pipx run --spec 'highwater-kafka[prove] @ file:///a.whl' highwater prove kip320",
        "`pip install` it, then `highwater` is a command",
        "make explore  # pip installs highwater's own",
    ],
)
def test_a_line_that_does_not_is_not(text):
    assert fetched_elsewhere(text) == []


@pytest.fixture(scope="module")
def texts():
    """What the repository says, by the path of the file."""
    found = [path for path in ROOT.iterdir() if path.suffix in KINDS or path.name in NAMES]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.suffix in KINDS]
    read = [path for path in found if path not in OF_THE_RULE and path.is_file()]
    assert len(read) > 800
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in read}


def test_no_page_message_or_example_leads_to_the_other_project(texts):
    found = {path: fetched_elsewhere(text) for path, text in texts.items()}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_no_file_names_the_host_of_a_registry(texts):
    """Where packages come from is the machine's own setting."""
    hosts = re.compile(
        r"pypi\.org|pythonhosted|npmjs|repo1?\.maven|docker\.io|ghcr\.io|quay\.io|deb\.debian"
    )
    assert {path: hosts.findall(text) for path, text in texts.items() if hosts.search(text)} == {}


def test_messages_and_metadata_have_one_name_and_know_the_same_extras():
    assert distribution.NAME == PROJECT["name"] != "highwater"
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    name, _, listed = everything.removesuffix("]").partition("[")
    assert name == distribution.NAME
    assert {*listed.split(",")} == {*extras} - {"all", "release"}
    assert {*distribution.BROUGHT_BY.values()} <= {*extras}


IMPORT = re.compile(r"^ *(?:from (\w+)[\w.]* import|import (\w+)[\w.]*(?: as \w+)?$)", re.MULTILINE)


def test_every_library_is_needed_by_all_or_brought_by_an_extra_that_is_known():
    needed = {re.split(r"[^\w]", each)[0] for each in PROJECT["dependencies"]}
    found = {
        first or second
        for folder in ("model", "properties", "checker")
        for path in (ROOT / folder).rglob("*.py")
        for first, second in IMPORT.findall(path.read_text(encoding="utf-8"))
    }
    others = found - {"model", "properties", "checker", "highwater"} - {*sys.stdlib_module_names}
    assert len(others) > 15
    # pytest loads its plugin itself, and Jinja2 brings MarkupSafe.
    assert others - needed - {"pytest", "markupsafe"} <= {*distribution.BROUGHT_BY}


def test_what_is_missing_is_said_with_what_brings_it(monkeypatch):
    monkeypatch.setitem(distribution.BROUGHT_BY, "not_there_at_all", "prove")
    with pytest.raises(UsageError) as raised:
        distribution.require("this needs it", "re", "not_there_at_all")
    assert str(raised.value) == "this needs it: pip install 'highwater-kafka[prove]'"
    distribution.require("this needs it", "re", "ast")


def test_the_version_is_that_of_the_metadata(monkeypatch):
    asked = []

    def version(name):
        asked.append(name)
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    distribution.highwater_version.cache_clear()
    try:
        assert distribution.highwater_version() == "unknown"
    finally:
        distribution.highwater_version.cache_clear()
    assert asked == [PROJECT["name"]]
