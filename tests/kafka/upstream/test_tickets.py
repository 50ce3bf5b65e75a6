"""What is written for a ticket: its patch applies to what is published, and its tests judge it."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from checker.kafka.releases.patch import Changed, changed_sources
from checker.kafka.upstream.directory import TICKET, Ticket, ticket_of, write
from checker.kafka.upstream.finding import every_finding
from checker.kafka.upstream.patch_file import unified
from checker.kafka.upstream.text import text_of
from checker.kafka.upstream.tree import main_folder
from model.language.errors import UsageError

FINDINGS = {finding.number: finding for finding in every_finding()}
TITLES = {number: finding.summary for number, finding in FINDINGS.items()}
SOURCE = "".join(f"line {number}\n" for number in range(40))


def patched(folder, changed):
    """What `git apply` makes of the sources as published."""
    for each in changed:
        path = folder / main_folder(each.module, each.file) / each.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(each.before)
    apply = ["git", "apply", "--whitespace=error-all", "-"]
    subprocess.run(apply, input=unified(changed), text=True, cwd=folder, check=True)
    return [
        (folder / main_folder(each.module, each.file) / each.file).read_text() for each in changed
    ]


def test_a_patch_turns_the_published_sources_into_the_fixed_ones(tmp_path):
    changed = [
        Changed("kafka", "kafka/Tide.scala", SOURCE, SOURCE.replace("line 7\n", "a\nb\n")),
        Changed("kafka-raft", "org/T.java", SOURCE + "}", SOURCE.replace("line 39", "last") + "}"),
    ]
    assert patched(tmp_path, changed) == [each.after for each in changed]
    assert (tmp_path / "core/src/main/scala/kafka/Tide.scala").is_file()
    assert (tmp_path / "raft/src/main/java/org/T.java").is_file()


@pytest.mark.parametrize("number", FINDINGS)
def test_a_ticket_stands_without_this_repository(number):
    text = text_of(FINDINGS[number], "4.3.1", [], {}, TITLES)
    for title in ("Environment", "Description", "Steps to reproduce", "Workaround", "Fix"):
        assert re.search(rf"\n## {title}\n\n\S", text) or f"\n## {title}\n\n    " in text, title
    for field in ("Summary", "Priority", "Component", "Affects versions", "Fix versions"):
        assert re.search(rf"^- \*\*{field}\*\*: \S", text, re.MULTILINE), field
    assert "](" not in text, "a link leads nowhere from JIRA"
    assert not re.search(r"`--(workaround|control|patched|schedule)\b", text), "whose option?"


def test_a_directory_is_written_whole_or_not_at_all(tmp_path):
    ticket = Ticket(FINDINGS["0006"], "4.3.1", {TICKET: "text\n", "run.sh": "#!/bin/sh\n"})
    write(ticket, tmp_path / "new" / "ticket")
    assert (tmp_path / "new" / "ticket" / "run.sh").stat().st_mode & 0o777 == 0o755
    (tmp_path / "empty").mkdir()
    write(ticket, tmp_path / "empty")
    assert (tmp_path / "empty" / TICKET).read_text() == "text\n"
    (tmp_path / "empty" / TICKET).write_text("mine")
    with pytest.raises(UsageError, match="is not empty: name a directory that is new or empty"):
        write(ticket, tmp_path / "empty")
    assert (tmp_path / "empty" / TICKET).read_text() == "mine"
    for taken in (tmp_path / "empty" / TICKET, tmp_path / "empty" / TICKET / "below"):
        with pytest.raises(UsageError):
            write(ticket, taken)
    broken = Ticket(FINDINGS["0006"], "4.3.1", {TICKET: "text\n", "run.sh": "\ud800"})
    with pytest.raises(UnicodeEncodeError):
        write(broken, tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "new"]


@pytest.mark.kafka
def test_a_findings_patch_applies_to_what_is_published(tmp_path):
    finding = FINDINGS["0020"]
    ticket = ticket_of(finding, "4.3.1", [finding])
    changed = changed_sources("4.3.1", finding.fixes.values())
    assert ticket.files["fix.patch"] == unified(changed)
    assert patched(tmp_path, changed) == [each.after for each in changed]
    subprocess.run(["bash", "-n"], input=ticket.files["run.sh"], text=True, check=True)


@pytest.mark.kafka
@pytest.mark.xdist_group("compilers")
@pytest.mark.nightly("Kafka's classes are compiled twice for each finding, a minute or two each")
@pytest.mark.parametrize("number", [n for n, finding in FINDINGS.items() if finding.fixes])
def test_run_sh_fails_without_the_patch_and_passes_with_it(number, tmp_path, tmp_path_factory):
    work = tmp_path_factory.getbasetemp() / "upstream-jars"
    work.mkdir(exist_ok=True)
    write(ticket_of(FINDINGS[number], None, list(FINDINGS.values())), tmp_path / "ticket")
    script, own = tmp_path / "ticket" / "run.sh", {**os.environ, "WORK": str(work)}
    ended = subprocess.run([script], env=own, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
