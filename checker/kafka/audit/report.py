"""Judgements as plain data, and as text of 80 columns for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

from checker.core.amounts import counted
from checker.kafka.audit.comparison import Pair
from checker.kafka.audit.directories import Replica
from checker.kafka.audit.judgement import Judgement, Violation
from checker.kafka.audit.quorum import Node, described
from checker.kafka.audit.segments import Contents

_WIDTH = 80


def as_data(judgement: Judgement) -> dict[str, Any]:
    """One partition, for JSON. Replicas are numbered in the order of `replicas`."""
    group = judgement.group
    logs = zip(group.replicas, judgement.comparison.contents, strict=True)
    return {
        "topic": group.topic,
        "partition": group.partition,
        "topic_id": group.topic_id,
        "replicas": [_replica(replica, contents) for replica, contents in logs],
        "pairs": [_pair(judgement, pair) for pair in _pairs(judgement)],
        "violations": [_violation(each) for each in judgement.violations],
        "notices": list(judgement.notices),
    } | _beside(judgement)


def _beside(judgement: Judgement) -> dict[str, Any]:
    """What only some partitions have: a quorum, remote segments."""
    said: dict[str, Any] = {}
    if judgement.quorum:
        said["quorum"] = [_node(node) for node in judgement.quorum]
    if judgement.remote is not None:
        said["remote"] = asdict(judgement.remote)
    return said


def _node(node: Node) -> dict[str, Any]:
    elected, voters = node.elected, node.voters
    return {
        "name": node.name,
        "epoch": None if elected is None else elected.epoch,
        "leader": None if elected is None else elected.leader,
        "voted": None if elected is None else elected.voted,
        "voters": None
        if voters is None
        else [[v.node, v.directory] for v in sorted(voters.voters)],
        "snapshots": [[each.end, each.epoch] for each in node.snapshots],
    }


def _replica(replica: Replica, contents: Contents) -> dict[str, Any]:
    return {
        "folder": str(replica.folder),
        "broker": replica.broker,
        "log_start": contents.start,
        "log_end": contents.end,
        "high_watermark": replica.high_watermark,
        "recovery_point": replica.recovery_point,
        "clean_shutdown": replica.clean_shutdown,
        "segments": contents.segments,
        "batches": contents.batches,
        "records": contents.records,
        "bytes": contents.size,
        "epochs": [[each.epoch, each.first] for each in contents.stretches],
        "epoch_cache": None if replica.epochs is None else [list(each) for each in replica.epochs],
        "unreadable": len(contents.damage),
    }


def _pair(judgement: Judgement, pair: Pair) -> dict[str, Any]:
    agreed, difference = judgement.agreed(pair), judgement.comparison.first_difference(pair)
    return {
        "replicas": list(pair),
        "agree": None if agreed is None else list(agreed),
        "alike": judgement.alike(pair),
        "differ_at": None if difference is None else difference.offset,
        "epochs": None if difference is None else list(difference.epochs),
    }


def _violation(violation: Violation) -> dict[str, Any]:
    return {
        "kind": str(violation.kind),
        "replica": violation.replica,
        "offset": violation.offset,
        "epoch": violation.epoch,
        "other": violation.other,
        "words": violation.words,
    } | ({} if violation.segment is None else {"segment": violation.segment})


def _pairs(judgement: Judgement) -> list[Pair]:
    return list(combinations(range(len(judgement.group.replicas)), 2))


def as_text(judgement: Judgement) -> str:
    """One partition: its replicas, where they agree, what is violated, what is to be noticed."""
    group = judgement.group
    heading = f"{group.name}: {counted(len(group.replicas), 'replica')}"
    lines = [heading, *_table(judgement)]
    for node in judgement.quorum:
        lines += _folded(described(node))
    if judgement.remote is not None:
        lines += _folded(f"remote: {judgement.remote.words}")
    if judgement.remote is not None and judgement.remote.deleted:
        lines += _folded(f"remote: {judgement.remote.deleted}")
    for words in _agreements(judgement):
        lines += _folded(words)
    for violation in judgement.violations:
        lines += _folded(f"violated, {str(violation.kind).replace('_', ' ')}: {violation.words}")
    for notice in judgement.notices:
        lines += _folded(f"noticed: {notice}")
    return "\n".join(lines) + "\n"


def _folded(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _agreements(judgement: Judgement) -> Iterator[str]:
    """A line for each pair, or one for all where several logs are one and the same."""
    pairs, comparison = _pairs(judgement), judgement.comparison
    agreed = {judgement.agreed(pair) for pair in pairs}
    whole = {(log.start, log.end) for log in comparison.contents}
    counts = {judgement.alike(pair) for pair in pairs}
    if len(pairs) > 1 and agreed == whole and len(counts) == 1 and not comparison.differences:
        yield f"all agree{_where(whole.pop(), counts.pop())}"
        return
    for pair in pairs:
        yield _agreement(judgement, pair)


def _agreement(judgement: Judgement, pair: Pair) -> str:
    names = [judgement.group.replicas[place].name for place in pair]
    both = f"{names[0]} and {names[1]}"
    agreed, difference = judgement.agreed(pair), judgement.comparison.first_difference(pair)
    words = f"{both} have nothing in common"
    if agreed is not None:
        words = f"{both} agree{_where(agreed, judgement.alike(pair))}"
    if difference is None:
        return words
    epochs = " and ".join(f"epoch {epoch}" for epoch in difference.epochs)
    return f"{words}; they differ at {difference.offset:,} ({epochs})"


def _where(offsets: tuple[int, int], alike: int) -> str:
    """From where to where logs agree, and at how many offsets where some have no record there."""
    begin, until = offsets
    some = "" if alike == until - begin else f" at {alike:,} of the offsets"
    return f"{some} from {begin:,} to {until - 1:,}"


def _table(judgement: Judgement) -> Iterator[str]:
    logs = zip(judgement.group.replicas, judgement.comparison.contents, strict=True)
    known = "snapshot at" if judgement.quorum else "high watermark"
    rows = [("replica", "log", known, "epochs", "shut down")]
    rows += [
        (
            replica.name,
            _offsets(contents),
            "none" if replica.high_watermark is None else f"{replica.high_watermark:,}",
            _epochs(contents),
            "cleanly" if replica.clean_shutdown else "not cleanly",
        )
        for replica, contents in logs
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()


def _offsets(contents: Contents) -> str:
    if contents.start == contents.end:
        return f"empty at {contents.end:,}" if contents.end else "empty"
    return f"{contents.start:,} to {contents.end - 1:,}"


def _epochs(contents: Contents) -> str:
    epochs: Sequence[int] = [each.epoch for each in contents.stretches]
    shown = ", ".join(map(str, epochs[-5:]))
    return f"..., {shown}" if len(epochs) > 5 else shown or "none"
