"""Ten thousand partitions as `ask` judges them: seconds and memory of all but the searches.

By hand: `python -m tests.benchmarks.bench_cluster [TOPICS [PARTITIONS]]`.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from checker.kafka.live.danger import RULES
from checker.kafka.live.dangers import judge
from checker.kafka.live.groups import groups_of
from checker.kafka.live.snapshot import Snapshot
from checker.kafka.live.stored import as_json, read
from tests.support.told import partition, told, topic


def cluster(topics: int, partitions: int) -> Snapshot:
    """Topics of five kinds, a tenth of their partitions with an ELR that names no broker."""
    return told(
        *(
            topic(
                f"topic-{n}",
                *(
                    partition(k, isr=(0,), elr=(9,)) if k % 10 == 0 else partition(k)
                    for k in range(partitions)
                ),
                least=str(n % 5 + 1),
            )
            for n in range(topics)
        )
    )


def main() -> None:
    """Print what each part takes."""
    topics, partitions = (int(text) for text in (*sys.argv[1:], "1000", "10")[:2])
    found = cluster(topics, partitions)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "snapshot"
        parts: dict[str, Callable[[], object]] = {
            f"{len(RULES)} rules of danger": lambda: judge(found),
            "groups": lambda: groups_of(found),
            "save": lambda: path.write_text(as_json(found)),
            "read": lambda: read(path),
        }
        for name, part in parts.items():
            begun = time.process_time()
            part()
            print(f"{name}: {time.process_time() - begun:.2f} CPU s")
        print(f"file: {path.stat().st_size / 1e6:.1f} MB")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
