"""Where Kafka's improvement proposals can be read: their pages are named by title."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote_plus

_PROPOSALS = """
KIP-98 - Exactly Once Delivery and Transactional Messaging
KIP-101 - Alter Replication Protocol to use Leader Epoch rather than High Watermark for Truncation
KIP-279: Fix log divergence between leader and follower after fast leader fail over
KIP-320: Allow fetchers to detect and handle log truncation
KIP-360: Improve reliability of idempotent/transactional producer
KIP-447: Producer scalability for exactly once semantics
KIP-497: Add inter-broker API to alter ISR
KIP-794: Strictly Uniform Sticky Partitioner
KIP-841: Fenced replicas should not be allowed to join the ISR in KRaft
KIP-853: KRaft Controller Membership Changes
KIP-890: Transactions Server-Side Defense
KIP-903: Replicas with stale broker epoch should not be allowed to join the ISR
KIP-966: Eligible Leader Replicas
KIP-996: Pre-Vote
"""

PROPOSAL_PAGES: Mapping[str, str] = {
    re.split(r"[ :]", title)[0]: "https://cwiki.apache.org/confluence/display/KAFKA/"
    + quote_plus(title)
    for title in _PROPOSALS.strip().splitlines()
}
"""Addresses of the proposals that stored counterexamples are about."""
