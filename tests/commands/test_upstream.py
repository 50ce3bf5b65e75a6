"""`upstream` as a command: what it lists, writes and refuses."""

import pytest

from checker.core.exits import Exit
from checker.kafka.releases import patch
from checker.kafka.upstream import directory, finding
from model.language.errors import UsageError


@pytest.fixture
def no_network(monkeypatch):
    """Nothing is brought: as without a network."""

    def bring(*arguments):
        raise UsageError("Maven could not bring it: Unknown host")

    monkeypatch.setattr(patch, "_published", bring)


def test_without_a_number_the_findings_are_listed_in_the_order_of_offering(highwater):
    ended = highwater("upstream")
    assert ended.status == Exit.OK
    assert ended.out.startswith("0001  Critical  A leader that skips")
    assert max(map(len, ended.out.splitlines())) <= 80
    rows = highwater("upstream", "--json").json["findings"]
    assert [row["finding"] for row in rows][:4] == ["0001", "0004", "0007", "0005"]


def test_a_ticket_is_written_and_its_files_are_named(highwater, tmp_path, monkeypatch):
    def changed(version, fixes):
        return [patch.Changed("kafka-storage", "org/A.java", f"{version}\n", "b\n")]

    monkeypatch.setattr(directory, "changed_sources", changed)
    ended = highwater("upstream", "0020", "-o", tmp_path / "ticket", "--json")
    told = ended.json
    assert ended.status == Exit.OK and told["kafka"] == "4.3.1"
    there = {p.relative_to(tmp_path / "ticket") for p in (tmp_path / "ticket").rglob("*.*")}
    assert {str(path) for path in there} == set(told["files"])
    assert set(told["files"]) >= {"ticket.md", "fix.patch", "run.sh"} and len(told["files"]) == 4
    again = highwater("upstream", "0020", "-o", tmp_path / "ticket")
    assert again.status == Exit.USAGE and "is not empty" in again.err


def test_a_finding_without_a_fix_has_a_text_alone(highwater, tmp_path, monkeypatch):
    every = finding.every_finding()
    bare = [finding.Finding(each.row, each.page, {}) for each in every]
    monkeypatch.setattr(finding, "every_finding", lambda: bare)
    ended = highwater("upstream", "0006", "-o", tmp_path / "t")
    assert "no patch: the finding has no fix yet" in ended.out
    assert [path.name for path in (tmp_path / "t").iterdir()] == ["ticket.md"]
    assert "There is no patch yet." in (tmp_path / "t" / "ticket.md").read_text()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (
            ["18", "-o", "DIR"],
            "no finding is called '18': did you mean '0018'?",
        ),
        (["0001"], "name a new or empty directory: highwater upstream 0001 -o DIR"),
        (["-o", "DIR"], "-o and --kafka go with a NUMBER"),
        (["0003", "-o", "DIR", "--kafka", "4.3.1"], "0003 is not in Kafka 4.3.1: fixed in 4.3.0"),
        (["0001", "-o", "DIR"], "Maven could not bring it: Unknown host"),
        (["0001", "-o", "DIR/ticket.md"], "is no directory"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line_and_nothing_is_written(
    highwater, tmp_path, no_network, arguments, words
):
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "ticket.md").write_text("mine")
    where = {"DIR": tmp_path / "new", "DIR/ticket.md": taken / "ticket.md"}
    ended = highwater("upstream", *(where.get(each, each) for each in arguments))
    assert ended.status == Exit.USAGE
    assert words in ended.err and ended.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    assert (taken / "ticket.md").read_text() == "mine"


def test_where_the_pages_are_not_installed_one_line_says_so(highwater, tmp_path, monkeypatch):
    monkeypatch.setattr("checker.lab.catalogue.Bug.page", lambda bug, root=tmp_path: None)
    ended = highwater("upstream", "0001", "-o", tmp_path / "t")
    assert ended.status == Exit.USAGE
    assert "run this in a checkout of Highwater" in ended.err
