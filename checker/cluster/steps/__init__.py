"""The sentences of schedules, by what they act upon; importing this makes all of them known."""

from checker.cluster.steps import brokers, disks, network, records, topics

__all__ = ["brokers", "disks", "network", "records", "topics"]
