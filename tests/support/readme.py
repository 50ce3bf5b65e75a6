"""The commands that README.md shows, and the file that one of them reads."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")

TOPIC = (
    "Topic: orders\tTopicId: 0123456789abcdefABCDEF\tPartitionCount: 1\tReplicationFactor: 3\t"
    "Configs: min.insync.replicas=2\n"
    "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"
)
"""What `topic.txt` holds, as `kafka-topics --describe` prints it."""


def shown() -> list[tuple[str, str]]:
    """Each command of a block, and the output that the block shows."""
    blocks = re.findall(r"^    \$ (.*)\n((?:(?:    .*)?\n)+)", PAGE, re.MULTILINE)
    return [(command, textwrap.dedent(lines).rstrip("\n")) for command, lines in blocks]


def commands() -> list[str]:
    """Each command of a block, and each in the text that is whole: that has an argument."""
    in_text = re.findall(r"`((?:highwater|explore) [a-z]+ [^`]+)`", PAGE)
    return [command for command, _ in shown()] + in_text
