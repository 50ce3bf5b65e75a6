"""States that came a short while ago, so that a slice need not send most of its equals twice.

A table with one place for each fingerprint, where the last to come stays: it fits the processor's
cache, and forgets what others have pushed out. That is no harm, since owners drop what is left; of
equals that come soon after each other, which are nearly all, the first alone passes.
"""

from __future__ import annotations

import numpy as np

from checker.core.engines.layout import Words
from checker.core.native.kernel import kernel
from checker.core.search.visited_set import Flags

_PLACES = 1 << 16  # half a MiB of fingerprints


@kernel
def _pass_by(places: Words, words: Words, found: Words, is_fresh: Flags) -> None:
    mask = np.uint64(places.shape[0] - 1)
    for i in range(found.shape[0]):
        place = found[i] & mask
        is_fresh[i] = places[place, 0] != found[i]
        for w in range(words.shape[0]):
            is_fresh[i] = is_fresh[i] or places[place, w + 1] != words[w, i]
            places[place, w + 1] = words[w, i]
        places[place, 0] = found[i]


class Recent:
    """The states that came last: fingerprints and `words` words, none or all with exact sets."""

    def __init__(self, words: int) -> None:
        self._places = np.zeros((_PLACES, 1 + words), np.uint64)  # no fingerprint is 0

    def pass_by(self, words: Words, found: Words) -> Flags:
        """Take states in order; those told true did not come lately, nor before that for sure."""
        is_fresh = np.empty(len(found), np.bool_)
        _pass_by(self._places, words, found, is_fresh)
        return is_fresh
