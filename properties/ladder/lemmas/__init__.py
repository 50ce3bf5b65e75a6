"""Lemmas about KIP-320: together they are preserved by every step, and imply what it promises.

A property such as `strong_isr` is true in every reachable state, but a step from a state that
merely satisfies it may break it: it says too little about how such a state came about. These lemmas
say the rest. They are ordinary properties: the explorer can check each one, and Z3 proves them
together.

"Newer" and "later" are by epoch. A request or a replica *is in* an epoch; epoch -1 is none.
"""

from __future__ import annotations

from properties.claims import Property
from properties.ladder.claims import leader_in_isr, well_formed
from properties.ladder.lemmas.commitment import (
    committed,
    follower_high_watermark,
    isr_chain_of_leaders,
    isr_chain_of_requests,
)
from properties.ladder.lemmas.epochs import (
    leader_got_there_first,
    leader_named_by_epoch,
    leaders_in_their_isr,
    numbers_issued,
    quorum_isr,
    quorum_leader,
)
from properties.ladder.lemmas.logs import epochs_in_logs, follower_has_prefix, log_matching, origin

KIP320_LEMMAS: tuple[Property, ...] = (
    well_formed,
    numbers_issued,
    quorum_leader,
    quorum_isr,
    leader_in_isr,
    leaders_in_their_isr,
    leader_named_by_epoch,
    leader_got_there_first,
    epochs_in_logs,
    log_matching,
    origin,
    follower_has_prefix,
    isr_chain_of_leaders,
    isr_chain_of_requests,
    follower_high_watermark,
    committed,
)
