"""What JUnit reports is what is told of a run."""

import pytest

from checker.kafka.releases import jars
from model.language.errors import UsageError
from tests.support import kafka_unit_tests as unit_tests
from tests.support.kafka_unit_tests import Outcome, run_tests

REPORT = """<testsuite>
  <testcase name="testRight()"/>
  <testcase name="testWrong()"><failure message="1"/></testcase>
  <testcase name="testThrows()"><error/></testcase>
</testsuite>"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A `java` that writes down its arguments, and the report that it is given."""

    def make(report):
        java = tmp_path / "java"
        java.write_text(
            f'#!/bin/sh\necho "$@" > {tmp_path}/said\n'
            'while [ "$1" != --reports-dir ]; do shift; done\n'
            f"cat > $2/TEST-one.xml <<'END'\n{report}\nEND\n"
        )
        java.chmod(0o755)
        monkeypatch.setattr(unit_tests, "java", lambda: str(java))
        monkeypatch.setattr(unit_tests, "fixtures", lambda release: "fixtures.jar")
        (tmp_path / "kafka.jar").touch()
        return jars.Release("9.9", tmp_path)

    return make


def test_tests_that_fail_or_throw_have_failed_and_the_others_passed(machine):
    told = run_tests(machine(REPORT), [], "a.Test")
    assert told == Outcome(frozenset({"testRight"}), frozenset({"testWrong", "testThrows"}))


def test_a_fix_comes_before_the_tests_and_both_before_the_release(machine, tmp_path):
    run_tests(machine(REPORT), [], "a.Test", tmp_path / "fix")
    path = (tmp_path / "said").read_text().split(" -cp ")[1].split()[0]
    assert path.split(":") == [f"{tmp_path}/fix", "fixtures.jar", f"{tmp_path}/kafka.jar"]


def test_no_test_at_all_is_no_success(machine):
    with pytest.raises(UsageError, match=r"no test of a\.Test was run on Kafka 9\.9"):
        run_tests(machine("<testsuite/>"), [], "a.Test")
