"""Which brokers share a rack, and so lose power together (`broker.rack`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from model.replicated_log import REPLICAS


class Racks(StrEnum):
    """Which brokers share a rack: a word, or a letter for the rack of each broker in turn."""

    SPREAD = "spread"  # one broker a rack
    TOGETHER = "together"  # all in one rack
    AAB = "aab"
    ABA = "aba"
    ABB = "abb"
    AAAB = "aaab"
    AABA = "aaba"
    AABB = "aabb"
    AABC = "aabc"
    ABAA = "abaa"
    ABAB = "abab"
    ABAC = "abac"
    ABBA = "abba"
    ABBB = "abbb"
    ABBC = "abbc"
    ABCA = "abca"
    ABCB = "abcb"
    ABCC = "abcc"

    @property
    def letters(self) -> str:
        """The rack of each broker; nothing where that is each its own, or one for all."""
        return "" if self in (Racks.SPREAD, Racks.TOGETHER) else self.value

    def numbers(self, brokers: int) -> list[int]:
        """The rack of each of so many brokers, by its number."""
        if self == Racks.TOGETHER:
            return [0] * brokers
        return [ord(letter) - ord("a") for letter in self.letters] or list(range(brokers))

    def largest(self, brokers: int) -> int:
        """How many of so many brokers are in one rack at most."""
        racks = self.numbers(brokers)
        return max(racks.count(rack) for rack in racks)


def racks_within(bounds: Mapping[str, int]) -> Iterator[Racks]:
    """The words, and what names as many racks as there are brokers."""
    return (each for each in Racks if len(each.letters) in (0, bounds[REPLICAS.name]))
