"""What a running cluster told, as plain data: all that is judged, and all that `--save` keeps.

`admin.py` fills it, `stored.py` writes and reads it; nothing else needs a cluster. What was not
told is `None` or empty here and named in `unread`, so that nothing is concluded from silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property

from checker.kafka.live.versions import level_name
from model.kafka.settings.eligible_replicas import ELR_FEATURE
from model.language.declare.history import version_of
from model.language.errors import UsageError

Ids = tuple[int, ...]
LATER = "later"
"""Marks a field that files of earlier commits have not got: there it has its default."""


@dataclass(frozen=True)
class Setting:
    """A setting in force. `source` is Kafka's word for where it comes from: `DEFAULT_CONFIG`."""

    value: str
    source: str


@dataclass(frozen=True)
class Directory:
    """A log directory of a broker; `error` is Kafka's, such as `KafkaStorageError`, or empty."""

    path: str
    error: str = ""


@dataclass(frozen=True)
class Broker:
    """A registered broker.

    `fenced` and `directories` are `None` where they were not told. `release` is the line that its
    requests are of, such as `4.3`, or empty.
    """

    id: int
    host: str
    port: int
    rack: str | None = None
    fenced: bool | None = None
    release: str = ""
    directories: tuple[Directory, ...] | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True)
class Partition:
    """A partition: ids of brokers. No leader is `None`. `offline` are replicas of brokers that are
    fenced or gone, and those in a log directory that failed.

    While it is reassigned, `replicas` has those of `adding` and of `removing` too.
    """

    number: int
    leader: int | None
    replicas: Ids
    isr: Ids
    elr: Ids = ()
    last_known_elr: Ids = ()
    offline: Ids = ()
    adding: Ids = ()
    removing: Ids = ()


@dataclass(frozen=True)
class Topic:
    """A topic with its partitions by number, and its settings; none where they were not told."""

    name: str
    partitions: tuple[Partition, ...]
    settings: Mapping[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True)
class Voter:
    """A controller that votes: the offset up to which it has read, and milliseconds since 1970."""

    id: int
    end_offset: int
    last_caught_up: int


@dataclass(frozen=True)
class Quorum:
    """The controllers as their leader tells."""

    leader: int
    epoch: int
    high_watermark: int
    voters: tuple[Voter, ...]


@dataclass(frozen=True)
class Unread:
    """What the cluster did not tell, and why not, each in a clause."""

    what: str
    why: str

    @property
    def words(self) -> str:
        """Both, in a line."""
        return f"{self.what}: {self.why}"


@dataclass(frozen=True)
class Snapshot:
    """All that was read of a cluster, at `taken` (UTC).

    `features` are the finalized levels by name, `supported` the highest that a broker's code has;
    both are `None` where they were not told. `with_fenced`: `brokers` are all registered ones, also
    those that are fenced. `consumer_groups` are the numbers of groups by their type, `classic` or
    `consumer`, as far as the user may see them.
    """

    taken: str
    cluster_id: str
    features: Mapping[str, int] | None
    supported: Mapping[str, int] | None
    with_fenced: bool
    brokers: tuple[Broker, ...]
    topics: tuple[Topic, ...]
    quorum: Quorum | None = None
    reassignments_told: bool = True
    unread: tuple[Unread, ...] = ()
    consumer_groups: Mapping[str, int] | None = field(default=None, metadata={LATER: True})

    @cached_property
    def by_id(self) -> Mapping[int, Broker]:
        """The brokers by their ids."""
        return {broker.id: broker for broker in self.brokers}

    @property
    def has_elr(self) -> bool:
        """Whether ELR is on; false too where the features were not told."""
        return bool((self.features or {}).get(ELR_FEATURE))

    @property
    def level(self) -> str:
        """The finalized `metadata.version`, such as `4.1-IV1`; empty for none."""
        return level_name(self.features)

    @property
    def line(self) -> str:
        """The line of releases that the brokers' code is of, such as `4.3`; empty if not known.

        Of brokers of several lines it is the oldest, by the requests that they take. Else it is
        that of the highest `metadata.version` that one supports, if they have any.
        """
        return next(iter(self.lines), "")

    @property
    def lines(self) -> list[str]:
        """The lines that brokers run, oldest first; none if not known."""
        by_requests = {broker.release for broker in self.brokers if broker.release}
        if self._supported and len(by_requests) < 2:
            return [self._supported]
        return sorted(by_requests, key=version_of)

    @property
    def learned(self) -> str:
        """How that is known, in a clause."""
        by_level = self.lines == [self._supported]
        return "the brokers' highest metadata.version" if by_level else "the requests brokers take"

    @property
    def _supported(self) -> str:
        return level_name(self.supported).partition("-")[0]

    def of_topics(self, pattern: str | None) -> Snapshot:
        """The same with the topics that a pattern such as `pay*` matches; `UsageError` if none."""
        if pattern is None:
            return self
        found = tuple(topic for topic in self.topics if fnmatchcase(topic.name, pattern))
        if not found:
            raise UsageError(f"--topic {pattern}: no topic that was read is called so")
        return replace(self, topics=found)

    @property
    def partitions(self) -> Iterator[tuple[Topic, Partition]]:
        """Every partition with its topic."""
        return ((topic, each) for topic in self.topics for each in topic.partitions)
