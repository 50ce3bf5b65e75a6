"""A response to a fetch that travels: who waits for it, and when it counts no more."""

from __future__ import annotations

from model.kafka import leader_epoch_file_cache as file_cache
from model.kafka.choices import Truncation
from model.kafka.leader_epoch_cache import knows_epochs
from model.kafka.state import NO_ANSWER, Broker, TopicPartition
from model.language import all_of, not_


def awaits_answer(follower: Broker) -> bool:
    """The fetcher thread that the follower's partition is with has a response to come.

    One thread asks a leader, in whichever leader epochs. It waits for each response before it
    truncates or asks again, as long as the connection is there (`AbstractFetcherThread.doWork`).
    """
    return all_of(follower.answer.kind != NO_ANSWER, follower.answer.source == follower.leader)


def void_answer(partition: TopicPartition, broker: Broker) -> None:
    """Answers of an earlier leader epoch do not count any more (KAFKA-18991)."""
    options = partition.options
    if options.fetch_answers.travel and options.answer_matches_epoch:
        broker.answer.reset()


def void_answer_to_empty_log(partition: TopicPartition, broker: Broker, where: bool = True) -> None:
    """In a new epoch a follower that knows of no epoch truncates before it fetches, to its end.

    Meanwhile it ignores an answer under way, with or without KAFKA-18991's fix
    (`AbstractFetcherThread.partitionFetchState`, `processFetchRequest`). A broker that has just led
    knows of an epoch: its own.
    """
    options = partition.options
    truncates = options.truncation != Truncation.HIGH_WATERMARK
    if options.fetch_answers.travel and truncates:
        unknown = all_of(broker.log.is_empty, not_(broker.leads))
        if file_cache.is_kept(partition):
            unknown = not_(knows_epochs(partition, broker))
        broker.answer.reset(where=all_of(where, unknown))
