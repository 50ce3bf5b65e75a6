"""Real clusters: a finding that loses and its control that keeps, and nothing is left of a run."""

import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from checker.core.exits import Exit
from checker.kafka.cluster.schedule import every_schedule
from tests.support.processes import highwater_command
from tests.support.tiers import nightly

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("clusters")]

ROOT = Path(__file__).parents[3]
LIMIT = 600.0  # seconds for what takes about one minute on an idle machine
RELEASE = "4.1.0"


@pytest.fixture
def reproduce(tmp_path):
    """Start `highwater reproduce` with a directory of its own for all temporary files."""
    started = []

    def begin(*arguments, release=RELEASE):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
        process = subprocess.Popen(
            highwater_command("reproduce", *arguments, "--kafka", release),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def is_gone(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize(
    "arguments, status, word",
    [
        (["0001"], Exit.VIOLATED, "lost: 1 of 2 "),
        (["0001", "--control"], Exit.OK, "kept: all 2 "),
        (["0001", "--patched"], Exit.OK, "kept: all 2 "),
    ],
    ids=["schedule", "control", "patched"],
)
def test_the_finding_loses_and_its_control_and_its_fix_keep(
    reproduce, tmp_path, arguments, status, word
):
    process = reproduce(*arguments)
    out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (status, "")
    assert word in out
    assert max(map(len, out.splitlines())) <= 80
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly("three runs on a cluster, of one minute or two each")
@pytest.mark.parametrize(
    "finding, schedule, word",
    [
        ("0005", "failed-directory", "lost: 1 of 1 "),
        ("0008", "noted-late", "lost: 1 of 2 "),
        ("0008", "orphan", "lost: 1 of 2 "),
        ("0009", "stalled-fetcher", "lost: 1 of 2 "),
        ("0010", "lost-heartbeat", "shared: two members read x, "),
        ("0010", "coordinator-moves", "shared: two members read x, "),
        ("0011", "offline", "stuck: not so: t has a leader, not within 60 s"),
        ("0011", "unclean-election", "lost: 1 of 2 "),
        ("0012", "deleted-below", "changed: a consumer reads x at offset 0 of t-0, "),
        ("0013", "taken-back", "stuck: not so: the replicas of t are 0, 1, 2, not within 60 s"),
        ("0014", "power-loss", "lost: 1 of 1 "),
        ("0014", "replaced-disk", "stuck: not so: t-1 has a leader, not within 60 s"),
        ("0015", "elected", "stuck: not so: consumer 0 has read y, not within 60 s"),
        ("0015", "truncated", "stuck: not so: consumer 0 has read y, not within 60 s"),
        ("0016", "start-before-mark", "stuck: not so: all replicas of t are in sync, not within"),
        ("0017", "refused", "stuck: not so: x is acknowledged, not within 30 s"),
        ("0018", "unregistered", "stuck: not so: t has a leader, not within 60 s"),
        ("0019", "unread-answer", "lost: 1 of 2 "),
        ("0020", "clean-stop", "lost: 1 of 3 "),
        ("0020", "crash", "lost: 1 of 3 "),
        ("0021", "raised-minimum", "lost: 1 of 2 "),
        ("0022", "missed-voters", "lost: 2 of 4 "),
        ("0023", "power-loss", "lost: "),
        (
            "0024",
            "earlier-snapshot",
            "stuck: not so: all controllers have read the metadata of 102, not within",
        ),
        ("0025", "two-failures", "lost: 2 of 3 "),
        (
            "0026",
            "dropped-voters",
            "stuck: not so: one of 101, 103 leads the quorum, not within",
        ),
        (
            "0026",
            "configured-voters",
            "stuck: not so: the metadata of 101 has not grown for 3 s, not within 60 s",
        ),
        ("0027", "unknown-endpoints", "stuck: not so: 1 has started, not within 60 s"),
        ("0028", "refused-read", "lost: 6 of 7 "),
        ("0028", "refused-till-expiry", "lost: 6 of 7 "),
        ("0029", "moved-between-disks", "lost: 6 of 10 "),
        ("0030", "late-copy", "hidden: 8 of 9 "),
        ("0031", "truncated-below", "lost: 4 of 5 "),
        ("0032", "read-past-an-epoch", "changed: a consumer reads x0 at offset 5 of t-0, "),
        ("0033", "takes-writes", "lost: 4 of 5 "),
        ("0033", "with-empty-log", "stuck: not so: all replicas of t are in sync, not within"),
        ("0034", "left-open", "stuck: not so: no transaction is open in t, not within 60 s"),
        ("0034", "half-committed", "torn: of the transaction of x, y readers "),
        ("0034", "rolling-restart", "stuck: not so: no transaction is open in t, not within 60 s"),
        ("0034", "taken-along", "torn: of the transaction of x readers get x: "),
        ("0035", "old-markers", "torn: of the transaction of y readers get y: "),
        ("0036", "spoilt-batch", "torn: of the transaction of x readers get x: "),
        ("0039", "switched-on-again", "lost: 5 of 6 "),
        ("0039", "unclean-election", "lost: 2 of 8 "),
        ("0040", "copying-is-off", "stuck: not so: a consumer that begins at the earliest "),
        ("0040", "in-deletion", "stuck: not so: a consumer that begins at the earliest "),
        ("0040", "elected-again", "stuck: not so: a consumer that begins at the earliest "),
        ("0041", "lost-segment", "lost: 2 of 4 "),
        ("0042", "dies-while-building", "lost: 6 of 7 "),
        ("0043", "another-local-start", "stuck: not so: a consumer that begins at the earliest "),
        ("0043", "before-it-is-fetched", "stuck: not so: a consumer that begins at the earliest "),
        ("0043", "last-tiered-offset", "stuck: not so: a consumer that begins at the earliest "),
        ("0044", "goes-on", "lost: 3 of 5 "),
        ("0044", "out-of-range", "lost: 2 of 3 "),
        ("0038", "leader-moves", "skipped: the share group goes on without p"),
    ],
)
def test_a_finding_is_shown_by_its_schedule_alone(reproduce, finding, schedule, word):
    for more, status, words in (
        ((), Exit.VIOLATED, word),
        (("--control",), Exit.OK, "kept: all "),
        (("--patched",), Exit.OK, "kept: all "),
    ):
        process = reproduce(finding, "--schedule", schedule, *more, release="4.3.1")
        out, err = process.communicate(timeout=LIMIT)
        assert (process.returncode, err) == (status, "")
        assert words in out


@pytest.mark.nightly("two runs on a cluster, of one minute or two each")
def test_what_no_fix_but_a_transaction_version_mends_is_shown_and_its_control_keeps(reproduce):
    for more, status, words in (
        ((), Exit.VIOLATED, "torn: of the transaction of y readers do not get y: "),
        (("--control",), Exit.OK, "kept: all "),
    ):
        process = reproduce("0037", *more, release="4.3.1")
        out, err = process.communicate(timeout=LIMIT)
        assert (process.returncode, err) == (status, "")
        assert words in out


@pytest.mark.nightly("runs on a cluster, of one minute or two each")
@pytest.mark.parametrize(
    "schedule",
    [schedule for schedule in every_schedule() if schedule.workaround],
    ids=lambda schedule: f"{schedule.finding}-{schedule.name}",
)
def test_nothing_is_lost_or_stuck_with_the_workaround(reproduce, schedule):
    release = "4.2.1" if schedule.finding == "0003" else "4.3.1"  # 4.3.0 has the fix
    process = reproduce(
        schedule.finding, "--schedule", schedule.name, "--workaround", release=release
    )
    out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (Exit.OK, "")
    assert "kept: all " in out


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, signal.SIGKILL, nightly("ends a run as SIGINT does", signal.SIGTERM)],
)
def test_nothing_is_left_of_a_run_that_is_ended(reproduce, tmp_path, number):
    process = reproduce("0001")
    while "send base" not in (line := process.stdout.readline()):
        assert line, process.stderr.read()
    begun = psutil.Process(process.pid).children(recursive=True)
    assert sum(child.name() == "java" for child in begun) == 5  # four nodes, and the clients
    process.send_signal(number)
    process.wait(60)
    end = time.monotonic() + 60
    while not all(map(is_gone, begun)) or list(tmp_path.iterdir()):
        assert time.monotonic() < end
        time.sleep(0.05)
