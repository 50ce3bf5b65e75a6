"""What pages and models name as a method of Kafka stands there in the newest published sources."""

from __future__ import annotations

import functools
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.kafka.releases.jars import artifacts, kafka_artifact, newest
from checker.kafka.releases.patch import fixes
from model.language.declare.settings import describe
from model.protocols import PROTOCOLS

pytestmark = [pytest.mark.kafka, pytest.mark.xdist_group("compilers")]

DOCS = Path(__file__).parents[3] / "docs"
PAGES = (DOCS / "broker-model.md", *sorted((DOCS / "findings").glob("*.md")))

# `locks.md` names the methods of these without their class, each in a section of its own.
SECTIONS = {"leaderIsrUpdateLock": "Partition", "partitionMapLock": "AbstractFetcherThread"}

# Their sources are in jars that no fix needs, or they are ours.
ELSEWHERE = {
    *("ClassicGroup", "ConsumerGroup", "CurrentAssignmentBuilder", "GroupMetadataManager"),
    *("OffsetMetadataManager", "FeatureCommand", "KafkaScheduler", "KRaftVersion"),
    *("GroupRun", "PartitionTest", "DelayedTxnMarker", "InterBrokerSendThread"),
    *("TransactionLog", "TransactionMetadata"),
}


def section_of(lock: str, page: str) -> str:
    """What `locks.md` says of a lock; nothing on other pages."""
    return page.partition(f"\n## `{lock}`\n")[2].partition("\n## ")[0]


def named_on(page: str) -> Iterator[tuple[str, str]]:
    """Classes and methods, as `Class.method` or, in the tables of `locks.md`, `method` alone."""
    yield from re.findall(r"`(?:\w+/)?([A-Z]\w+)\.([a-z]\w+)`", page)
    for lock, name in SECTIONS.items():
        for cell in re.findall(r"^\| ([^|]+) \|", section_of(lock, page), re.MULTILINE):
            yield from ((name, method) for method in re.findall(r"`([a-z]\w+)`", cell))


def users_of(lock: str, source: str) -> set[str]:
    """The methods of a Scala class that take the lock."""
    users: set[str] = set()
    method = ""
    for line in source.splitlines():
        begun = re.match(r"  (?:\S+ )*def (\w+)", line)
        method = begun[1] if begun else method
        code = "" if line.lstrip().startswith("*") else line.partition("//")[0]
        if method and lock in code and f"val {lock} =" not in code:
            users.add(method)
    return users


def declared() -> Iterator[tuple[str, str]]:
    """Classes and methods where actions and settings are, as `highwater list` says."""
    for name in ("kafka", "kafka_producer", "kafka_group", "kafka_transactions", "kraft"):
        protocol = PROTOCOLS[name]
        sources = [action.source for action in protocol.actions]
        sources += [info.source for info in describe(protocol.settings).values()]
        for source in filter(None, sources):
            yield from re.findall(r"^([A-Z]\w+)\.([a-z]\w+)$", source.place)


@functools.cache
def published() -> dict[str, str]:
    """The text of each source file that the fixes' jars have, by the classes that it declares."""
    version = newest(with_sources=True)
    texts: dict[str, str] = {}
    for module in sorted({method.module for fix in fixes().values() for method in fix.methods}):
        wanted = [kafka_artifact(version, "sources", module=module)]
        (jar,) = artifacts(f"{module}-{version}-sources", wanted, alone=True).glob("*.jar")
        with zipfile.ZipFile(jar) as sources:
            for name in sources.namelist():
                if name.endswith((".java", ".scala")):
                    text = sources.read(name).decode()
                    for declared in re.findall(r"\b(?:class|object|interface) (\w+)", text):
                        texts[declared] = texts.get(declared, "") + text
    return texts


def test_methods_that_pages_and_models_name_stand_in_their_classes():
    texts = published()
    named = {pair for page in PAGES for pair in named_on(page.read_text(encoding="utf-8"))}
    named |= {*declared()}
    assert {name for name, _ in named} - texts.keys() <= ELSEWHERE
    found = [(name, method) for name, method in named if name in texts]
    assert len(found) > 200
    gone = [(n, m) for n, m in found if not re.search(rf"\b{m}\b", texts[n])]
    assert gone == [], "renamed, or never there"


def test_every_method_that_takes_one_of_the_locks_is_on_the_page_of_locks():
    page = (DOCS / "findings" / "locks.md").read_text(encoding="utf-8")
    for lock, name in SECTIONS.items():
        users = users_of(lock, published()[name])
        assert len(users) > 15
        assert users - {*re.findall(r"`(\w+)`", section_of(lock, page))} == set(), name
