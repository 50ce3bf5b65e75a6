"""The state of the broker model: controller, brokers, clients, ghosts, budgets.

What is not state here, and why that is sound, is in `docs/decisions/0010-broker-model-state.md`.
Dead values are blank: a broker that is down has no view, a follower no leader's bookkeeping.
"""

from __future__ import annotations

from enum import IntEnum

from model.kafka.bounds import LOST_DIRECTORIES, MIN_ISR_CHANGES
from model.kafka.future_replica import FutureReplica
from model.kafka.settings import KafkaSettings
from model.kafka.spent import Spent
from model.language import (
    Annotated,
    Entity,
    Members,
    PerMember,
    Record,
    SetOf,
    State,
    Table,
    all_of,
    choose,
    everybody,
    for_each,
    integers,
    members,
    minimum,
    nobody,
    not_,
    sequence,
    spent,
    table,
)
from model.replicated_log import (
    LOG_SIZE,
    MAX_RECORDS,
    NO_EPOCH,
    REPLICAS,
    LeaderEpoch,
    LeaderEpochOrNone,
    Log,
    Offset,
    RecordId,
)

NO_RECORD = -1
NOT_TOLD = -1
RecordIdOrNone = Annotated[int, integers(NO_RECORD, MAX_RECORDS - 1, none=NO_RECORD)]


class Answer(IntEnum):
    """What an answer to a fetch says."""

    NONE = 0
    NOTHING_NEW = 1
    RECORD = 2
    DIVERGES = 3


NO_ANSWER, EMPTY_ANSWER, RECORD_ANSWER, DIVERGING_ANSWER = Answer


class FetchAnswer(Record):
    """An answer on its way to a follower; blank where answers arrive at once.

    `epoch` and `id` are the record's, or `epoch` and `end` where the leader says that the logs
    diverge. `offset` and `source` are those of the fetch; `high_watermark` and `log_start` are the
    leader's, of one reading from before it noted this fetch (KAFKA-7104).
    """

    kind: Answer = NO_ANSWER
    epoch: LeaderEpoch = 0
    id: RecordId = 0
    end: Offset = 0
    offset: Offset = 0
    high_watermark: Offset = 0
    log_start: Offset = 0
    source: Broker | None = None


class Broker(Entity):
    """A broker with its replica of the partition.

    On disk: its release (`upgraded`: the newer), the log, whose entries below `log_start` are
    deleted, and blank; with `log.start.file=later` `start_on_disk`, where the log would start after
    a crash, and entries are blank below that; `log_before`, where the disk may have it still, the
    log as it was before a truncation; while it is down the HW checkpoint and the clean-shutdown
    marker; `directory_lost` is 1 until it is back if the replica's directory was taken from it;
    `directory_failed`: that has failed as the broker ran, and is not back; `directory_dropped`: the
    failed one is in use no more, and the broker has not started since. In memory, gone when it
    stops: whether it has asked to be let go (`shutting_down`); its view of leader and ISR; as a
    leader what it knows of followers, and in `not_replicas` who has none.
    `assigned_elsewhere`: the controller has the replica in another directory, which has failed.
    `unregistered`: an operator wants the controller to forget it; once it is fenced, that is so.
    `fetch_answered` and `fetched_epoch_forgotten`, where answers may clear the last fetched epoch:
    the follower has had an answer in this leader epoch, and has forgotten that epoch.
    `fetched_epoch`: its fetcher names that one, which the log that has replaced its own lacks.
    `epochs_cut_last`: truncation has taken epochs out of its cache since it last read metadata, and
    the file has these still.
    `gave_up`: the follower has refused an answer, and fetches no more in this leader epoch.
    `counted_as_told` and `start_counted_as_told`, with fetch sessions: the leader's HW and log
    start of an answer that was not taken, or is under way; else `NOT_TOLD` and 0.
    `isr_accepted`, where answers and images are apart: the answer is under way to this leader, in
    office still or not, that the controller has taken its pending ISR.
    `min_isr_unread`: the broker has read no image with the change of `min.insync.replicas` in it;
    `min_isr_next`: as a leader, it reads that change next, or is about to end the image with it.
    """

    _label = "b"

    up: bool = True
    fenced: bool = False
    shutting_down: bool = False
    unregistered: bool = False
    stopped_cleanly: bool = False
    upgraded: bool = False
    directory_lost: Annotated[int, integers(0, LOST_DIRECTORIES)] = 0
    directory_failed: bool = False
    directory_dropped: bool = False
    assigned_elsewhere: bool = False
    log: Log = sequence(LOG_SIZE)
    log_before: Log = sequence(LOG_SIZE)
    log_start: Offset = 0
    start_on_disk: Offset = 0
    high_watermark: Offset = 0
    leader: Broker | None = None
    leader_epoch: LeaderEpoch = 0
    truncating: bool = False
    fetch_answered: bool = False
    fetched_epoch_forgotten: bool = False
    fetched_epoch: LeaderEpochOrNone = NO_EPOCH
    epochs_cut_last: bool = False
    gave_up: bool = False
    answer: FetchAnswer = FetchAnswer.part()
    counted_as_told: Annotated[int, integers(NOT_TOLD, LOG_SIZE, none=NOT_TOLD)] = NOT_TOLD
    start_counted_as_told: Offset = 0
    future: FutureReplica = FutureReplica.part()
    min_isr_unread: Annotated[int, integers(0, MIN_ISR_CHANGES)] = 0
    min_isr_next: Annotated[int, integers(0, MIN_ISR_CHANGES)] = 0

    not_replicas: SetOf[Broker] = nobody()
    isr: SetOf[Broker] = nobody()
    pending_isr: SetOf[Broker] = nobody()
    isr_accepted: bool = False
    follower_leo: PerMember[Broker, Offset] = for_each(0)
    leading_since: LeaderEpoch = 0

    @property
    def leads(self) -> bool:
        """The broker believes that it leads. It takes writes, even if it is a zombie."""
        return self.leader == self

    @property
    def is_online(self) -> bool:
        """The broker is up, and its replica in no log directory that has failed."""
        return all_of(self.up, not_(self.directory_failed))

    @property
    def is_registered(self) -> bool:
        """The controller knows the broker: also one to be unregistered, until it is fenced."""
        return not_(all_of(self.unregistered, self.fenced))

    def follows(self, leader: Broker) -> bool:
        """The broker believes that `leader`, another broker, leads."""
        return all_of(self != leader, self.leader == leader)

    def follows_in_epoch(self, leader: Broker) -> bool:
        """The broker follows `leader`, and is in the same leader epoch."""
        return all_of(self.follows(leader), self.leader_epoch == leader.leader_epoch)

    def truncate_to(self, end: int) -> None:
        """Cut the log at `end`, and with it the HW, and where it starts."""
        self.start_on_disk = minimum(self.start_on_disk, end)
        self.high_watermark = minimum(self.high_watermark, end)
        self.log_start = minimum(self.log_start, end)
        self.log.truncate_to(end)


class Controller(Record):
    """What the controller holds of the partition. It is replicated, and loses nothing.

    `replicas` are the brokers that should have the log; while a reassignment is under way, it is
    `adding` some of them, and `removing` others.
    `eligible` is the ELR; `last_known_leader` led when the ISR became empty. `leader_is_current`:
    the leader is in office and knows the partition epoch. `request` is the ISR that an
    AlterPartition request under way asks for, if the controller could still accept it;
    `joiner_restarted`: a broker that would join has another broker epoch by now. Where answers and
    images are apart, or settings are read late, `image_unread`: the newest partition epoch is that
    which an answer told the leader in office, or will tell it, and it has not read the image of it.
    `offline`: who has said that its replica's directory has failed, and has not registered since.
    `index_left_over`: whom the index of the ELR by broker has once more than the ELR. `renounced`:
    a controller has failed at a registration, as each will that tries it again. `upgraded`: it has
    the newer release's rules. `min_isr_changed_last`: the change of `min.insync.replicas` was
    written after all that there is of the partition.
    """

    replicas: SetOf[Broker] = everybody()
    adding: SetOf[Broker] = nobody()
    removing: SetOf[Broker] = nobody()
    leader: Broker | None = None
    leader_epoch: LeaderEpoch = 0
    isr: SetOf[Broker] = everybody()
    eligible: SetOf[Broker] = nobody()
    last_known_leader: Broker | None = None
    leader_is_current: bool = True
    request: SetOf[Broker] = nobody()
    joiner_restarted: bool = False
    image_unread: bool = False
    offline: SetOf[Broker] = nobody()
    index_left_over: SetOf[Broker] = nobody()
    topic_deleted: bool = False
    renounced: bool = False
    upgraded: bool = False
    min_isr_changed_last: Annotated[int, integers(0, MIN_ISR_CHANGES)] = 0


class StalledFetch(Record):
    """A fetch that `leader` has checked and read, whose thread stalls before or after noting it.

    `offset` is what the thread will note, or has noted, in the leader's `Replica` object of
    `follower`. `orphaned`: the leader has thrown that object away since.
    """

    leader: Broker | None = None
    follower: Broker | None = None
    noted: bool = False
    orphaned: bool = False
    offset: Offset = 0


class StalledTruncation(Record):
    """What a fetcher thread of `follower`, which fetches from `leader`, will truncate to.

    The leader has answered that `epoch` ends at `end`.
    """

    follower: Broker | None = None
    leader: Broker | None = None
    epoch: LeaderEpoch = 0
    end: Offset = 0


class StalledProduce(Record):
    """What a request thread of `leader` will wait for: the HW beyond the offset of a record.

    `checking`: the thread has begun to look, and all that it still looks at is the HW.
    """

    leader: Broker | None = None
    checking: bool = False
    record: RecordId = 0
    offset: Offset = 0


class StalledRead(Record):
    """A fetch of `follower`'s whose thread at `leader` has read one number for the answer so far.

    That is the leader's HW or, with `log.start.read.first`, where its log starts.
    """

    leader: Broker | None = None
    follower: Broker | None = None
    number: Offset = 0


class ProducedRecord(Entity):
    """A record by its id, and ghosts: whether it was acknowledged, how often it was processed.

    `deleted`: some broker has deleted it at its log's start, as it may.
    """

    _label = "record "

    acknowledged: bool = False
    deleted: bool = False
    processed: Annotated[int, integers(0, 2)] = 0


class CommittedOffset(Entity):
    """A ghost: the record that a leader first exposed to consumers at an offset."""

    _label = "offset "

    exposed: RecordIdOrNone = NO_RECORD


class EpochStart(Entity):
    """An offset, from 0 to the end of a full log, and what starts there; see `epoch.cache`.

    For each broker the epoch of the entry in its leader-epoch cache, `NO_EPOCH` where there is
    none; while it is down, what it will be once the log is loaded. `in_file`: that of the file,
    where the file as a whole differs from the cache; else `NO_EPOCH`.
    """

    _label = "start "

    cached: PerMember[Broker, LeaderEpochOrNone] = for_each(NO_EPOCH)
    in_file: PerMember[Broker, LeaderEpochOrNone] = for_each(NO_EPOCH)


class Consumer(Record):
    """A consumer: what it polls next, what it has processed up to, where it would resume."""

    position: Offset = 0
    processed: Offset = 0
    committed: Offset = 0


class TopicPartition(State):
    """The whole state."""

    brokers: Members[Broker] = members(REPLICAS)
    records: Table[ProducedRecord] = table(MAX_RECORDS)
    offsets: Table[CommittedOffset] = table(LOG_SIZE)
    epoch_starts: Table[EpochStart] = table(LOG_SIZE + 1)
    controller: Controller = Controller.part()
    stalled: StalledFetch = StalledFetch.part()
    stalled_truncation: StalledTruncation = StalledTruncation.part()
    stalled_produce: StalledProduce = StalledProduce.part()
    stalled_read: StalledRead = StalledRead.part()
    next_record: Annotated[int, integers(0, MAX_RECORDS)] = 0
    consumer: Consumer = Consumer.part()
    spent: Spent = Spent.part()

    @property
    def options(self) -> KafkaSettings:
        """The settings, with their type."""
        settings: KafkaSettings = self.settings
        return settings

    @property
    def min_isr(self) -> int:
        """The effective `min.insync.replicas` as the controller sees it: no more than replicas.

        It looks at the topic's first partition, whichever this one is (finding 0014).
        """
        return self.within_replicas(self.wanted_isr)

    def within_replicas(self, wanted: int) -> int:
        """The same if so many were wanted."""
        replicas = self.controller.replicas.size if self.replicas_move else self.brokers.count
        first = self.options.first_partition_replicas
        if first > 0 and not self.options.min_isr_counts_own_replicas:
            replicas = first
        return minimum(wanted, replicas)

    def min_isr_of(self, leader: Broker) -> int:
        """The same as a leader sees it, by the replicas of this partition that it knows of.

        And by the number of before, until it has read of the change.
        """
        replicas, wanted = self.brokers.count, self.wanted_isr
        if self.replicas_move:
            replicas = replicas - leader.not_replicas.size
        if self.min_isr_may_be_unread:
            late = leader.min_isr_unread + leader.min_isr_next > 0
            wanted = choose(late, self.options.min_insync_replicas, wanted)
        return minimum(wanted, replicas)

    @property
    def min_isr_may_be_unread(self) -> bool:
        """`min.insync.replicas` may change, and brokers read of it by themselves."""
        options = self.options
        changes = options.min_insync_replicas_later not in (0, options.min_insync_replicas)
        return changes and not options.with_zookeeper

    @property
    def exists(self) -> bool:
        """Nobody has deleted the topic."""
        return not_(self.controller.topic_deleted)

    @property
    def replicas_move(self) -> bool:
        """Some brokers have no replica at first, so that operators may move replicas there."""
        return self.options.replication_factor > 0

    def has_replica(self, broker: Broker) -> bool:
        """The broker should have the log."""
        return self.controller.replicas.contains(broker) if self.replicas_move else True

    @property
    def wanted_isr(self) -> int:
        """`min.insync.replicas` as it is set now."""
        required = self.options.min_insync_replicas
        later = self.options.min_insync_replicas_later
        if later > 0:
            required = choose(spent(self, MIN_ISR_CHANGES) > 0, later, required)
        return required

    def is_in_office(self, broker: Broker) -> bool:
        """The broker leads, and the controller says so in the same leader epoch."""
        return all_of(
            broker.leads,
            self.controller.leader == broker,
            self.controller.leader_epoch == broker.leader_epoch,
        )
