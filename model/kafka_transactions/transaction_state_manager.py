"""The transaction log and who leads it: `TransactionStateManager`.

A coordinator is pending from an append until it is committed, and takes no request meanwhile. What
a log holds beyond the high watermark may be lost with its leader.
"""

from __future__ import annotations

from model.kafka_transactions.bounds import (
    CLOCK_STEPS,
    FAILED_UNLOADS,
    FAILOVERS,
    LOAD_FAILURES,
    LOST_RESPONSES,
    STALE_ANSWERS,
)
from model.kafka_transactions.state import (
    EMPTY,
    LOG_SIZE,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    Coordinator,
    IdState,
    Kind,
    Logged,
    Offset,
    Partition,
    Status,
    TransactionalId,
)
from model.kafka_transactions.transaction_manager import hear_of_end, hear_of_epoch, wants_init
from model.kafka_transactions.transaction_metadata import first_of_next, is_last
from model.language import (
    SetOf,
    action,
    all_of,
    any_of,
    choose,
    minimum,
    not_,
    require,
    some,
    spend,
    spent,
)


def is_free(txn: TransactionalId, coordinator: Coordinator) -> bool:
    """It leads, and no append of its own is under way: else it says CONCURRENT_TRANSACTIONS."""
    return all_of(txn.leads(coordinator), coordinator.acts, not_(coordinator.pending))


def unread(txn: TransactionalId) -> int:
    """How many of the oldest records nobody needs: all but the newest committed one, or one."""
    nobody_reads = all_of(
        not_(txn.failovers_left), some(all_of(txn.leads(c), c.acts) for c in txn.coordinators)
    )
    full = choose(txn.log.is_full, 1, 0)
    return minimum(choose(nobody_reads, txn.high_watermark, full + 1), txn.high_watermark) - 1


def has_room(txn: TransactionalId) -> bool:
    """Another record fits into the log once it is compacted."""
    return any_of(not_(txn.log.is_full), unread(txn) > 0)


def append(
    txn: TransactionalId,
    coordinator: Coordinator,
    state: IdState,
    epoch: int,
    partitions: SetOf[Partition],
    where: bool = True,
    keeps_its_id: bool = False,
) -> None:
    """Append what the id comes to, if `where`: `appendTransactionToLog`. There must be room."""
    compact(txn, choose(where, unread(txn), 0))
    end = txn.log.end
    txn.log.extend_to(choose(where, end + 1, end))
    for position in txn.log.positions:
        entry = txn.log[position]
        here = all_of(where, position == end)
        entry.state = choose(here, state, entry.state)
        entry.epoch = choose(here, epoch, entry.epoch)
        entry.partitions = choose(here, partitions, entry.partitions)
        if not txn.options.fences_take_a_new_id:
            entry.keeps_its_id = choose(here, keeps_its_id, entry.keeps_its_id)
    coordinator.pending = any_of(where, coordinator.pending)


def compact(txn: TransactionalId, amount: int) -> None:
    """Remove so many of the oldest records."""
    log = txn.log
    for position in range(LOG_SIZE):
        log[position].copy_from(log[position + amount])
    log.truncate_to(log.end - amount)
    txn.high_watermark = txn.high_watermark - amount


def _commit(txn: TransactionalId, told: bool) -> None:
    """The log's end is committed; its leader takes it over, and the producer is told, or not."""
    require(txn.high_watermark < txn.log.end)
    last = txn.log[txn.log.end - 1]
    producer = txn.producer
    answers = some(all_of(txn.leads(c), c.pending) for c in txn.coordinators)
    is_init = all_of(answers, wants_init(txn), last.state == EMPTY)
    meant = last.epoch - 1 if txn.has_versions_2 else last.epoch
    is_end = all_of(
        answers,
        any_of(
            all_of(last.state == PREPARE_COMMIT, producer.request == Kind.COMMIT),
            all_of(last.state == PREPARE_ABORT, producer.request == Kind.ABORT),
        ),
        producer.epoch == meant,
    )
    if not told:
        require(any_of(is_init, is_end))
        spend(txn, LOST_RESPONSES)

    txn.high_watermark = txn.log.end
    for coordinator in txn.coordinators:
        its_own = all_of(txn.leads(coordinator), coordinator.pending)
        take_over(coordinator, last, its_own)
        if txn.forgets_the_last_epoch:
            bumped = all_of(its_own, last.state == EMPTY)
            coordinator.loaded = all_of(coordinator.loaded, not_(bumped))
    if told:
        hear_of_end(txn, _told(txn, last), is_end)
        hear_of_epoch(txn, last.epoch, is_init)


def _told(txn: TransactionalId, entry: Logged) -> int:
    """The epoch that the answer to EndTxn has."""
    if not txn.has_versions_2 or not txn.options.next_id_is_told:
        return entry.epoch
    is_next = is_last(txn, entry.epoch)
    if not txn.options.fences_take_a_new_id:
        is_next = all_of(is_next, not_(entry.keeps_its_id))
    return choose(is_next, first_of_next(entry.epoch), entry.epoch)


def take_over(coordinator: Coordinator, entry: Logged, where: bool) -> None:
    """The coordinator's cache is what the record says, if `where`."""
    coordinator.state = choose(where, entry.state, coordinator.state)
    coordinator.epoch = choose(where, entry.epoch, coordinator.epoch)
    coordinator.partitions = choose(where, entry.partitions, coordinator.partitions)
    coordinator.keeps_its_id = choose(where, entry.keeps_its_id, coordinator.keeps_its_id)
    coordinator.failed_fence = all_of(not_(where), coordinator.failed_fence)
    coordinator.pending = all_of(not_(where), coordinator.pending)
    given_up = coordinator.status == Status.GIVEN_UP
    coordinator.status = choose(all_of(where, given_up), Status.ACTIVE, coordinator.status)


@action(
    "every replica in sync has the transaction log",
    at="TransactionStateManager.appendTransactionToLog",
    since="0.11.0.0",
    about="KIP-98",
)
def log_commit(txn: TransactionalId) -> None:
    """What the coordinator has appended is committed, and whoever waits for it is told."""
    _commit(txn, True)


@action(
    "every replica in sync has the transaction log; the response is lost",
    at="TransactionStateManager.appendTransactionToLog",
    since="0.11.0.0",
    about="KIP-98",
)
def log_commit_in_vain(txn: TransactionalId) -> None:
    """The same, and the producer asks again."""
    _commit(txn, False)


@action(
    "a partition is added to the transaction in the log, and {coordinator} does not take it over",
    at="TransactionMetadata.completeTransitionTo",
    since="0.11.0.0",
    about="KAFKA-8803",
    settings="clocks.may.go.back",
)
def coordinator_refuse_its_own_time(txn: TransactionalId, coordinator: Coordinator) -> None:
    """The transaction would have begun after this: `pendingState` is never cleared."""
    require(not txn.options.clocks_may_go_back)
    require(txn.leads(coordinator), coordinator.pending, coordinator.state == ONGOING)
    require(txn.high_watermark < txn.log.end, txn.log[txn.log.end - 1].state == ONGOING)

    spend(txn, CLOCK_STEPS)
    txn.high_watermark = txn.log.end
    coordinator.reset()
    coordinator.status = Status.STUCK


@action(
    "the coordinator is replaced; the transaction log ends at {end}",
    at="BrokerMetadataPublisher.updateCoordinator",
    since="0.11.0.0",
    about="KIP-98",
    settings="publishes.abandoned.loads",
)
def coordinator_fail_over(txn: TransactionalId, end: Offset) -> None:
    """Another broker leads: what is committed is there, and as much of the rest as it has.

    The old one may live on without knowing.
    """
    require(txn.high_watermark <= end, end <= txn.log.end)

    spend(txn, FAILOVERS)
    txn.log.truncate_to(end)
    for coordinator in txn.coordinators:
        coordinator.pending = False
        new = coordinator.number == spent(txn, FAILOVERS)
        coordinator.status = choose(new, Status.LOADING, coordinator.status)
    blank_the_replaced(txn)


def blank_the_replaced(txn: TransactionalId) -> None:
    """Forget of coordinators that were replaced what makes no difference to anybody.

    A load matters if it is published; a cache if it sends markers, verifies, or answers a request.
    """
    if not txn.options.dead_values_are_blank:
        return
    for coordinator in txn.coordinators:
        matters = all_of(coordinator.sends_markers, not_(coordinator.partitions.is_empty))
        if txn.options.publishes_abandoned_loads:
            matters = any_of(matters, coordinator.status == Status.HALF_LOADED)
        if txn.verifies:
            matters = any_of(
                matters,
                all_of(coordinator.status == Status.ACTIVE, coordinator.state == ONGOING),
            )
        may_answer = spent(txn, STALE_ANSWERS) < txn.bound(STALE_ANSWERS)
        matters = any_of(matters, all_of(may_answer, coordinator.status == Status.ACTIVE))
        old = coordinator.number < spent(txn, FAILOVERS)
        coordinator.reset(where=all_of(old, not_(matters)))


@action(
    "{coordinator}, which was replaced, resigns",
    at="TransactionCoordinator.onResignation",
    since="0.11.0.0",
    about="KIP-98",
)
def coordinator_resign(txn: TransactionalId, coordinator: Coordinator) -> None:
    """It drops what it has, or dies: late, as its broker becomes a follower first."""
    require(coordinator.number < spent(txn, FAILOVERS), coordinator.status != Status.NONE)

    coordinator.reset()


@action(
    "{coordinator} has read the transaction log up to {end}, and not all",
    at="TransactionStateManager.loadTransactionMetadata",
    since="0.11.0.0",
    settings="publishes.abandoned.loads",
)
def coordinator_read_part(txn: TransactionalId, coordinator: Coordinator, end: Offset) -> None:
    """A load is several reads of `transaction.state.log.load.buffer.size`.

    It matters only where such a part can be acted on.
    """
    may_count = txn.options.publishes_abandoned_loads
    if txn.options.failed_loads_count:
        may_count = any_of(may_count, spent(txn, LOAD_FAILURES) < txn.bound(LOAD_FAILURES))
    require(may_count)
    require(coordinator.status == Status.LOADING, txn.leads(coordinator))
    require(end > 0, end < txn.log.end)

    coordinator.status = Status.HALF_LOADED
    take_over(coordinator, txn.log[end - 1], True)


@action(
    "{coordinator} has loaded the transaction log",
    at="TransactionStateManager.loadTransactionsForTxnTopicPartition",
    since="0.11.0.0",
    about="KIP-98",
    settings="load.waits.for.high.watermark",
)
def coordinator_load(txn: TransactionalId, coordinator: Coordinator) -> None:
    """It acts on the newest record, and sends the markers of a transaction that is decided."""
    require(is_loading(coordinator), txn.leads(coordinator))
    if txn.options.load_waits_for_high_watermark:
        require(txn.high_watermark == txn.log.end)

    coordinator.status = Status.ACTIVE
    coordinator.loaded = txn.forgets_the_last_epoch
    take_over(coordinator, txn.log[txn.log.end - 1], True)


@action(
    "{coordinator} cannot load the transaction log, as it has a cache of an earlier epoch",
    at="TransactionStateManager.addLoadedTransactionsToCache",
    since="0.11.0.0",
    about="KAFKA-9307",
    settings="loads.replace.a.cache",
)
def coordinator_load_in_vain(txn: TransactionalId, coordinator: Coordinator) -> None:
    """It was coordinator before, and an error kept it from dropping its cache."""
    require(not txn.options.loads_replace_a_cache)
    require(is_loading(coordinator), txn.leads(coordinator), coordinator.number > 0)

    spend(txn, FAILED_UNLOADS)
    coordinator.reset()
    coordinator.status = Status.STUCK


@action(
    "{coordinator}, which was replaced while it loaded, acts on what it has read",
    at="TransactionStateManager.loadTransactionsForTxnTopicPartition",
    since="0.11.0.0",
    settings="publishes.abandoned.loads",
)
def coordinator_publish_abandoned_load(txn: TransactionalId, coordinator: Coordinator) -> None:
    """The log is no longer its own, so that the load ends early; it has not resigned yet."""
    require(txn.options.publishes_abandoned_loads)
    require(coordinator.status == Status.HALF_LOADED, not_(txn.leads(coordinator)))

    coordinator.status = Status.ACTIVE
    blank_the_replaced(txn)


@action(
    "the load of {coordinator} fails, and it acts on what it has read",
    at="TransactionStateManager.loadTransactionMetadata",
    since="0.11.0.0",
    settings="failed.loads.count",
)
def coordinator_fail_to_load(txn: TransactionalId, coordinator: Coordinator) -> None:
    """Any error ends the load, is logged, and nothing else. It leads, and appends."""
    require(txn.options.failed_loads_count)
    require(coordinator.status == Status.HALF_LOADED, txn.leads(coordinator))

    spend(txn, LOAD_FAILURES)
    coordinator.status = Status.ACTIVE


def is_loading(coordinator: Coordinator) -> bool:
    """Its load is not done."""
    return any_of(coordinator.status == Status.LOADING, coordinator.status == Status.HALF_LOADED)
