"""How a run may end before its evidence is complete."""

from __future__ import annotations


class UndecidedError(Exception):
    """Why nothing can be said of a run, in a few words: it is no error of the user's or of ours."""


class PromiseBrokenError(Exception):
    """What Kafka promises and did not do, in a few words, though nothing stood in its way."""
