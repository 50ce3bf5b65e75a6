"""What was read of a cluster and what it means, as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checker.core.amounts import counted
from checker.kafka.live.danger import SHOWN, Danger, Dangers, few
from checker.kafka.live.judged import Judged, cheapest_words, lost_words, mark_words
from checker.kafka.live.snapshot import Snapshot
from checker.kafka.live.unseen import unseen_of


def header(cluster: Snapshot) -> Iterator[str]:
    """The cluster in some lines, and what it did not tell."""
    count = sum(len(topic.partitions) for topic in cluster.topics)
    release = f"Kafka {cluster.line}" if cluster.line else "Kafka of a release that is not known"
    yield (
        f"{release}, {counted(len(cluster.brokers), 'broker')}, "
        f"{counted(len(cluster.topics), 'topic')}, {counted(count, 'partition')}, "
        f"read {cluster.taken.replace('T', ' ').replace('+00:00', ' UTC')}"
    )
    if cluster.line:
        yield f"  release by {cluster.learned}; no patch release is told"
    if cluster.features is not None:
        elr = "on" if cluster.has_elr else "off"
        yield f"  metadata.version {cluster.level or 'none'}, ELR {elr}"
    racks = {broker.rack for broker in cluster.brokers if broker.rack is not None}
    if racks:
        yield f"  {counted(len(racks), 'rack')}: {few(sorted(racks))}"
    if fenced := [str(broker.id) for broker in cluster.brokers if broker.fenced]:
        yield f"  fenced brokers: {few(fenced)}"
    failed = [
        f"{each.path} of broker {broker.id} ({each.error})"
        for broker in cluster.brokers
        for each in broker.directories or ()
        if each.error
    ]
    yield from (f"  log directory offline: {each}" for each in failed)
    lines = sorted({broker.release for broker in cluster.brokers if broker.release})
    if len(lines) > 1:
        yield f"  brokers of several releases: {', '.join(lines)}; judged as {cluster.line}"
    if cluster.quorum is not None:
        voters = ", ".join(str(voter.id) for voter in cluster.quorum.voters)
        yield f"  controllers: {voters}, led by {cluster.quorum.leader}"
    yield from (f"  not told: {each.words}" for each in cluster.unread)


def danger_lines(dangers: Dangers) -> Iterator[str]:
    """What is in danger now, what to do, and what could not be judged."""
    if not dangers.found:
        yield "nothing that was looked at is a step of a known loss"
    else:
        yield "in danger now"
    for danger in dangers.found:
        yield from _of_danger(danger)
    for rule, why in dangers.not_judged:
        yield f"  not judged everywhere: {bugs_words(rule.bugs)} ({rule.looks_at}), without {why}"


def _of_danger(danger: Danger) -> Iterator[str]:
    yield f"  {bugs_words(danger.rule.bugs)}: {danger.rule.words}"
    yield from (f"    {hit.words}" for hit in danger.hits[:SHOWN])
    if len(danger.hits) > SHOWN:
        yield f"    and {len(danger.hits) - SHOWN:,} more (--json)"
    yield f"    now: {danger.rule.now}"


def bugs_words(bugs: Iterable[str]) -> str:
    """Numbers as people call them: of findings four digits, else the catalogue's."""
    return ", ".join(
        f"finding {number}" if len(number) == 4 else f"bug {number}" for number in bugs
    )


def unseen_lines(cluster: Snapshot) -> Iterator[str]:
    """What no admin client shows, and what to watch."""
    yield "not shown to an admin client (`highwater affected` says what to do); watch"
    for each in unseen_of(cluster):
        yield f"  {', '.join(each.findings)}: {each.look}"


def group_lines(judged: Sequence[Judged]) -> Iterator[str]:
    """The groups: what each loses under which faults, and what prevents that, cheapest first."""
    yield "what can be lost, by groups of partitions with the same settings and placement"
    if not judged:
        yield "  nothing is known: no partition was told"
    silent = [one for one in judged if not one.answers and not one.refused]
    for number, one in enumerate(judged, 1):
        if one in silent[SHOWN:]:
            continue
        group = one.group
        yield (
            f"  {number}. {counted(group.partitions, 'partition')} of "
            f"{counted(len(group.topics), 'topic')}: {few(list(group.topics))}"
        )
        yield f"     {group.words}"
        for each in one.answers:
            yield f"     {each.faults.words}: {lost_words(each)}"
            if prevents := cheapest_words(each):
                yield f"       prevented by, cheapest first: {prevents}"
        if one.refused:
            yield f"     not judged: {one.refused}"
        elif len(one.answers) < one.asked:
            yield "     not judged under all faults: time ran out (--max-seconds)"
    if rest := silent[SHOWN:]:
        count = counted(sum(one.group.partitions for one in rest), "partition")
        yield f"  and {counted(len(rest), 'group')} of {count}, not judged: time ran out (--json)"
    if mark := mark_words(judged):
        yield f"  {mark}"
