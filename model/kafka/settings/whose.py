"""Whose rule a setting is: by whose release it goes while brokers of two releases run at once.

A setting without an owner is the cluster's: operators or producers choose it, it says what the
model leaves out, or it is a fix that no release has.
"""

from __future__ import annotations

from enum import StrEnum


class Whose(StrEnum):
    """Whose rule a setting is, and so by whose release it goes while brokers are upgraded."""

    LEADER = "leader"
    FOLLOWER = "follower"
    CONTROLLER = "controller"
