"""What is printed by `ask`, `affected`, `reproduce`, `upstream`, `conform`, `cases`, `audit`."""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

from checker.commands.outputs.shapes import Count, Positive, Share
from checker.commands.outputs.told import ToldCluster

AskTier: TypeAlias = Literal["setting", "feature", "machines", "upgrade", "unreleased"]
"""What a change takes of an operator."""


class AskAnswered(TypedDict):
    """What is lost under some faults, and what prevents it."""

    faults: str
    mixed: str
    known: str
    parts: list[AskPart]
    changes: list[AskChange]
    all_tried: bool
    beyond: list[AskBeyond]
    remote: NotRequired[AskRemote]
    lossy: bool
    decided: bool


class AskRemote(TypedDict):
    """What is lost of a tiered topic's remote segments."""

    explored: str
    losses: list[AskRemoteLoss]


class AskRemoteLoss(TypedDict):
    """A loss of remote segments, if it is possible."""

    about: str
    property: str
    verdict: str | None
    words: str
    depth: Count | None
    steps: list[str]
    known: str
    trace: str | None


class Ask(AskAnswered):
    """What a cluster can lose, what stops, what would prevent it."""

    command: Literal["ask"]
    release: str
    preset: str
    mode: Literal["zookeeper", "kraft"]
    replicas: Positive
    read: list[AskRead]
    defaults: list[AskRead]
    ignored: list[str]
    unused: dict[str, str]
    seconds: Share
    version: str


class AskRead(TypedDict):
    """A key that was read, and what the model makes of it."""

    name: str
    value: str
    origin: str
    means: str


class AskPart(TypedDict):
    """A part of the answer: what some faults bring."""

    name: str
    explored: str
    bounds: dict[str, object]
    settings: dict[str, object]
    states: Count
    losses: list[AskLoss]
    stops: list[AskLoss]


class AskLoss(TypedDict):
    """A loss that is possible."""

    about: str
    property: str
    explored: str
    verdict: str
    words: str
    depth: Count | None
    steps: list[str]
    lasting: AskLasting | None
    trace: str | None


class AskLasting(TypedDict):
    """What stays after a loss."""

    ends: Literal["never_begins", "by_itself", "with_a_restart", "not_within_bounds"]
    steps: Count | None
    faults: Count
    words: str


class AskChange(TypedDict):
    """A change of a setting, and whether it prevents the losses."""

    change: str
    tier: AskTier
    about: str
    explored: str
    costs: list[str]
    cost: str
    states: Count


class AskBeyond(TypedDict):
    """What the model does not cover."""

    about: str
    case: str
    title: str
    lost: str
    steps: Positive
    takes: dict[str, Positive]
    given: dict[str, str]
    explored: str


class AskControllers(TypedDict):
    """What the controllers' quorum can lose, and what would prevent it."""

    command: Literal["ask"]
    release: str
    preset: str
    controllers: Positive
    read: list[str]
    faults: str
    explored: str
    bounds: dict[str, object]
    settings: dict[str, object]
    losses: list[AskControllersLoss]
    changes: list[AskControllersChange]
    all_tried: bool
    seconds: Share
    lossy: bool
    decided: bool
    version: str


class AskControllersLoss(TypedDict):
    """What is asked of the quorum, and whether it can be."""

    about: str
    properties: list[str]
    verdict: str | None
    words: str
    depth: Count | None
    steps: list[str]
    trace: str | None


class AskControllersChange(TypedDict):
    """A change with which nothing is lost."""

    change: str
    tier: AskTier
    about: str
    explored: str


class AskApplication(TypedDict):
    """Which promises an application keeps, and the fewest faults that break each."""

    command: Literal["ask"]
    release: str
    clients: str
    application: str
    read: list[AskRead]
    ignored: list[str]
    unused: dict[str, str]
    faults: dict[str, Count]
    max_faults: Count
    promises: list[AskPromise]
    stated: list[AskStated]
    known: list[AskKnown]
    changes: list[AskKept]
    all_tried: bool
    seconds: Share
    lossy: bool
    decided: bool
    version: str


class AskKnown(TypedDict):
    """A bug of the catalogue that the releases have, and the fewest faults of a stored case."""

    bug: str
    source: str
    words: str
    faults: dict[str, Count]


class AskPromise(TypedDict):
    """A promise, with the smallest sets of faults that break it; `searched`: of how many all."""

    about: str
    facet: str
    property: str
    explored: str
    settings: dict[str, object]
    words: str
    broken: list[AskBroken]
    searched: int
    decided: bool
    trace: str | None


class AskBroken(TypedDict):
    """A set of faults, by name how often each, and the shortest run in which it breaks."""

    faults: dict[str, Positive]
    explored: str
    depth: Count
    steps: list[str]


class AskStated(TypedDict):
    """A promise that a setting decides; `kept` is null where nothing judges it."""

    about: str
    kept: bool | None
    words: str
    instead: str


class AskKept(TypedDict):
    """A change, and which promises it keeps under the faults that break them without it."""

    change: str
    tier: AskTier
    about: str
    explored: str
    promises: list[str]


class Affected(TypedDict):
    """Which known bugs concern a cluster, the worst first; `told` if it runs, or was read."""

    command: Literal["affected"]
    release: str
    told: ToldCluster | None
    mode: Literal["zookeeper", "kraft"] | None
    bugs: list[AffectedBug]
    version: str


class AffectedBug(TypedDict):
    """A bug, whether it concerns the cluster, and what says so or what to look at."""

    finding: str | None
    numbers: list[Positive]
    source: str
    words: str
    concern: Literal["affected", "cannot be told", "not affected"]
    because: list[str]
    look: list[str]
    effect: Literal["metadata", "lost", "misread", "repeated", "blocked"]
    likely: Literal["ordinary", "occasional", "rare", "very rare"]
    why: str
    since: str | None
    fixed: list[str]
    needs: list[str]
    today: str
    tried: str | None
    watch: str | None


class Reproduce(TypedDict):
    """A finding on a cluster."""

    command: Literal["reproduce"]
    schedules: NotRequired[list[object]]
    finding: NotRequired[str]
    schedule: NotRequired[str]


class Upstream(TypedDict):
    """The directory of a finding's ticket, and the files in it."""

    command: Literal["upstream"]
    finding: str
    kafka: str
    directory: str
    files: list[str]


class UpstreamList(TypedDict):
    """The findings, in the order in which to offer them."""

    command: Literal["upstream"]
    findings: list[UpstreamRow]


class UpstreamRow(TypedDict):
    """A finding, its priority in JIRA, and the summary of its ticket."""

    finding: str
    priority: str
    summary: str


class Conform(TypedDict):
    """The model beside Kafka's classes."""

    command: Literal["conform"]
    traces: NotRequired[list[object]]
    seed: NotRequired[Count]
    releases: NotRequired[list[object]]
    observed: NotRequired[list[object]]
    table: NotRequired[list[object] | dict[str, object]]
    sensitivity: NotRequired[list[object] | dict[str, object]]


class Cases(TypedDict):
    """Stored counterexamples."""

    command: Literal["cases"]
    cases: list[object]


class AuditRemoteSegment(TypedDict):
    """A segment in a remote store: offsets from `base` to `until` (exclusive)."""

    identity: str
    base: Count
    until: Count
    epochs: list[int]
    state: Literal["copy_started", "copy_finished", "delete_started", "delete_finished"] | None
    is_read: bool
    lacks: list[str]


class AuditRemote(TypedDict):
    """What a remote store has of a partition."""

    segments: list[AuditRemoteSegment]
    log_start: Count
    words: str
    deleted: str
    has_metadata: bool
    unread: Count


class AuditPartition(TypedDict):
    """A partition's replicas, what is violated, and what is noticed."""

    topic: str
    partition: Count
    topic_id: str | None
    replicas: list[object]
    pairs: list[object]
    violations: list[object]
    notices: list[str]
    quorum: NotRequired[list[object]]
    remote: NotRequired[AuditRemote]
    state: NotRequired[object]


class Audit(TypedDict):
    """Replicas on brokers' disks."""

    command: Literal["audit"]
    verdict: str
    partitions: list[AuditPartition]
    skipped: list[object]
