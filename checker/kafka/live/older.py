"""Two calls of kafka-python's admin client, for older brokers too.

The client takes for granted what responses have from Kafka 3.7 and 3.8 on: before, it raises
`KeyError` in `describe_cluster` and `describe_metadata_quorum`. The same request is then sent once
more, and its response read here.
"""

from __future__ import annotations

from typing import Any

from kafka import errors
from kafka.admin import KafkaAdminClient
from kafka.protocol.admin import DescribeClusterRequest, DescribeQuorumRequest


def described_cluster(client: KafkaAdminClient) -> dict[str, Any]:
    """The brokers, and the cluster's id; an error of Kafka's where it is not told."""
    try:
        found: dict[str, Any] = client.describe_cluster()
    except KeyError:
        found = _sent(client, DescribeClusterRequest())
        if found["error_code"]:
            raise errors.for_code(found["error_code"]) from None
    return found


def described_quorum(client: KafkaAdminClient) -> dict[str, Any]:
    """The controllers as their leader tells; `error` of a partition says why not."""
    try:
        found: dict[str, Any] = client.describe_metadata_quorum()
    except KeyError:
        part = DescribeQuorumRequest.TopicData
        partition = part.PartitionData(partition_index=0)
        topic = part(topic_name="__cluster_metadata", partitions=[partition])
        found = _sent(client, DescribeQuorumRequest(topics=[topic]))
        for each in (p for topic in found["topics"] for p in topic["partitions"]):
            code = each["error_code"]
            each["error"] = errors.for_code(code).__name__ if code else None
    return found


def _sent(client: KafkaAdminClient, request: Any) -> dict[str, Any]:
    """The response as plain data; the client has no public way to send a request."""
    found: dict[str, Any] = client._manager.run(client._manager.send, request).to_dict()
    return found
