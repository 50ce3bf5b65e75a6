"""Lemmas about KIP-320: together they are preserved by every step, and imply what it promises.

A property such as `strong_isr` is true in every reachable state, but a step from a state that
merely satisfies it may break it: it says too little about how such a state came about. These lemmas
say the rest. They are ordinary properties: the explorer can check each one, and Z3 proves them
together.

"Newer" and "later" are by epoch. A request or a replica *is in* an epoch; epoch -1 is none.
"""

from __future__ import annotations

from properties.claims import Property
from properties.ladder import claims
from properties.ladder.lemmas import commitment, epochs, logs

KIP320_LEMMAS: tuple[Property, ...] = (
    claims.well_formed,
    epochs.numbers_issued,
    epochs.quorum_leader,
    epochs.quorum_isr,
    claims.leader_in_isr,
    epochs.leaders_in_their_isr,
    epochs.leader_named_by_epoch,
    epochs.leader_got_there_first,
    logs.epochs_in_logs,
    logs.log_matching,
    logs.origin,
    logs.follower_has_prefix,
    commitment.isr_chain_of_leaders,
    commitment.isr_chain_of_requests,
    commitment.follower_high_watermark,
    commitment.committed,
)
