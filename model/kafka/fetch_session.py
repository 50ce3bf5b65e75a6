"""What a leader leaves out of its answers: what its session with the follower counts as told.

`FetchSession.CachedPartition` (KIP-227). Each answer has the leader's HW and log start; later ones
leave the partition out until there are records, or either is another. But a follower takes neither
from an answer that says that the logs diverge (KAFKA-14704), nor from one that it asked for in
another leader epoch (KAFKA-18991): it does not know what counts as told. That is state until the
follower takes an answer or gets an error, one of the two stops, or another leads. An answer that is
lost ends the session, and the next one says all. Only with `fetch.sessions`; else every answer says
all.
"""

from __future__ import annotations

from model.kafka.state import NOT_TOLD, Broker, TopicPartition
from model.language import SetOf, all_of, any_of, choose, not_, some


def count_as_told(partition: TopicPartition, follower: Broker, leader: Broker, where: bool) -> None:
    """Where the condition holds, the answer is no error: its HW and log start count as told."""
    options = partition.options
    if options.fetch_sessions and not options.session_repeats:
        follower.counted_as_told = choose(where, leader.high_watermark, NOT_TOLD)
        follower.start_counted_as_told = choose(where, leader.log_start, 0)


def begin_anew(partition: TopicPartition, follower: Broker, where: bool = True) -> None:
    """Where the condition holds, nothing counts as told that the follower does not know."""
    if partition.options.fetch_sessions:
        follower.counted_as_told = choose(where, NOT_TOLD, follower.counted_as_told)
        start = follower.start_counted_as_told
        follower.start_counted_as_told = choose(where, 0, start)


def go_on(partition: TopicPartition, follower: Broker, leader_stays: bool) -> None:
    """In a new leader epoch the session with the same leader is the same.

    A fetch before that leader has read of the epoch gets an error; the leader may be faster.
    """
    begin_anew(partition, follower, where=not_(leader_stays))


def end_all(partition: TopicPartition, lost: SetOf[Broker]) -> None:
    """The processes of these brokers go, and with them their sessions, with leaders or followers.

    Before they forget whom they follow.
    """
    if not partition.options.fetch_sessions:
        return
    for follower in partition.brokers:
        alone = some(all_of(lost.contains(m), follower.leader == m) for m in partition.brokers)
        begin_anew(partition, follower, where=any_of(lost.contains(follower), alone))


def leaves_out(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """An answer without records leaves the partition out: it would say what counts as told."""
    if not partition.options.fetch_sessions:
        return False
    return all_of(
        follower.counted_as_told == leader.high_watermark,
        follower.start_counted_as_told == leader.log_start,
    )
