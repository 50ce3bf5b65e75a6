"""What a leader leaves out of its answers: what its session with the follower counts as told.

`FetchSession.CachedPartition` (KIP-227). Each answer has the leader's HW; later ones leave the
partition out until there are records, or the HW is another. But from an answer that says that the
logs diverge a follower takes no HW (KAFKA-14704): it does not know what counts as told. This HW is
state until the follower takes an answer, gets an error or is in another leader epoch; a session
that goes on into the next epoch of the same leader is left out. Only with `fetch.sessions`, and
where answers arrive at once; else every answer says all.
"""

from __future__ import annotations

from model.kafka.state import NOT_TOLD, Broker, TopicPartition
from model.language import choose


def count_as_told(partition: TopicPartition, follower: Broker, leader: Broker, where: bool) -> None:
    """The answer diverges, and where the condition holds it is no error: its HW counts as told."""
    options = partition.options
    if options.fetch_sessions and not options.session_repeats:
        follower.counted_as_told = choose(where, leader.high_watermark, NOT_TOLD)


def begin_anew(partition: TopicPartition, follower: Broker, where: bool = True) -> None:
    """Where the condition holds, nothing counts as told that the follower does not know."""
    if partition.options.fetch_sessions:
        follower.counted_as_told = choose(where, NOT_TOLD, follower.counted_as_told)


def leaves_out(partition: TopicPartition, follower: Broker, leader: Broker) -> bool:
    """An answer without records leaves the partition out: the leader's HW counts as told."""
    if not partition.options.fetch_sessions:
        return False
    return follower.counted_as_told == leader.high_watermark
