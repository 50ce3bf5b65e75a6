"""Protocols as tests of pytest, by a mark or as files; what fails shows its trace.

pytest loads this module by its entry point in every run, so it imports nothing of Highwater until a
test asks for it. `docs/testing.md` describes it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from checker.api.asking import Answer

MARK = "highwater"
FIXTURE = "highwater_answer"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The limits of all searches, and which files hold protocols."""
    group = parser.getgroup("highwater", "Highwater, a model checker")
    group.addoption(
        "--highwater-depth", type=int, metavar="N",
        help="steps from the initial state at most, whatever the tests say",
    )  # fmt: skip
    group.addoption(
        "--highwater-seconds", type=float, metavar="S",
        help="stop each search after this time, whatever the tests say",
    )  # fmt: skip
    parser.addini(
        "highwater_files", "files that declare protocols: each property of theirs is a test",
        type="args", default=[],
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(protocol, settings=None, *, preset, properties, depth, max_seconds, **bounds): "
        "search the protocol before the test; a violation fails it with its trace",
    )
    depth, seconds = config.option.highwater_depth, config.option.highwater_seconds
    if depth is not None and depth < 0:
        raise pytest.UsageError(f"--highwater-depth cannot be {depth}: valid are 0 and more")
    if seconds is not None and not 0 <= seconds < float("inf"):
        raise pytest.UsageError(
            f"--highwater-seconds cannot be {seconds}: valid is a number of seconds"
        )


# --- the mark ------------------------------------------------------------------------------------


@pytest.fixture(name=FIXTURE)
def _answer(request: pytest.FixtureRequest) -> Answer:
    """The answer to the question of the test's mark, which the test then judges itself."""
    mark = request.node.get_closest_marker(MARK)
    if mark is None:
        pytest.fail(f"{FIXTURE} needs a mark: @pytest.mark.{MARK}(protocol)", pytrace=False)
    return _asked(request.node, mark)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Search what a mark names, before the test's own body."""
    mark = item.get_closest_marker(MARK)
    if mark is not None and FIXTURE not in getattr(item, "fixturenames", ()):
        answer = _asked(item, mark)
        if not answer:
            pytest.fail(_told(answer), pytrace=False)


def _asked(item: pytest.Item, mark: pytest.Mark) -> Answer:
    if not mark.args:
        pytest.fail(f"@pytest.mark.{MARK} needs a protocol, or its name", pytrace=False)
    protocol, *others = mark.args
    return _explore(item.config, _beside(protocol, item.path.parent), *others, **mark.kwargs)


def _beside(protocol: Any, folder: Path) -> Any:
    """A file that is named is looked for beside the test first."""
    if isinstance(protocol, str):
        file, colon, name = protocol.partition(".py")
        if colon and (folder / f"{file}.py").is_file():
            return f"{folder / file}.py{name}"
    return protocol


def _explore(config: pytest.Config, *arguments: Any, **named: Any) -> Answer:
    """The answer, within the limits of the command line; a mistake of the user's is a failure."""
    from checker.api.asking import explore
    from model.language.errors import HighwaterError

    if config.option.highwater_depth is not None:
        named["depth"] = config.option.highwater_depth
    if config.option.highwater_seconds is not None:
        named["max_seconds"] = config.option.highwater_seconds
    try:
        return explore(*arguments, **named)
    except (HighwaterError, TypeError) as error:
        if isinstance(error, TypeError) and error.__traceback__ and error.__traceback__.tb_next:
            raise  # not of the call itself
        told = str(error)
    pytest.fail(told, pytrace=False)  # out of the handler, or pytest would show the error again


def _told(answer: Answer) -> str:
    """The answer as text: its traces, or why there is none."""
    stopped = getattr(answer.result, "stopped", "")
    if not stopped:
        return str(answer)
    return (
        f"{answer}\nstopped by {stopped}, with all states to a depth of "
        f"{max(answer.result.depth, 0)} visited: a depth is a limit with an answer"
    )


# --- files ---------------------------------------------------------------------------------------


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A file that matches `highwater_files`."""
    patterns = parent.config.getini("highwater_files")
    root = parent.config.rootpath
    if any(file_path.match(p) or file_path == root / p for p in patterns):
        file: pytest.Collector = ProtocolFile.from_parent(parent, path=file_path)
        return file
    return None


class ProtocolFile(pytest.File):
    """A file whose protocols are searched, each once."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each property that a protocol of the file promises."""
        from model.language.errors import HighwaterError
        from model.own_protocols import protocols_in
        from properties import Sense, promised_properties

        try:
            found = protocols_in(self.path)
            for name, protocol in found.items():
                search = _Search(self.config, protocol)
                for prop in promised_properties(protocol.model()):
                    if prop.sense is Sense.ALWAYS:
                        yield PropertyItem.from_parent(
                            self, name=f"{name}::{prop.name}", search=search, prop=prop.name
                        )
        except HighwaterError as error:
            raise self.CollectError(str(error)) from None


class _Search:
    """A search that several tests ask for."""

    def __init__(self, config: pytest.Config, protocol: Any) -> None:
        self._config, self._protocol = config, protocol
        self._answer: Answer | None = None

    def answer(self) -> Answer:
        """The answer, found once."""
        if self._answer is None:
            self._answer = _explore(self._config, self._protocol, keep_going=True)
        return self._answer


class PropertyItem(pytest.Item):
    """A property of a protocol in a file."""

    def __init__(self, *, search: _Search, prop: str, **named: Any) -> None:
        super().__init__(**named)
        self._search, self._property = search, prop

    def runtest(self) -> None:
        """Fail with the trace if the property is violated, or if there is no answer."""
        answer = self._search.answer()
        for trace in answer.traces:
            if trace.property == self._property:
                from checker.telling.report.text import render_text

                pytest.fail(render_text(trace), pytrace=False)
        if getattr(answer.result, "stopped", ""):
            pytest.fail(_told(answer), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """What pytest writes over the failure."""
        return self.path, None, self.name


# --- failures ------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A state machine's failure is its trace: the frames of the code that ran it say nothing."""
    report = yield
    told = getattr(call.excinfo.value, "highwater_trace", "") if call.excinfo else ""
    if told and report.failed:
        report.longrepr = told
    return report
