"""An object store on loopback: moto's S3, in a process of its own that a test may end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unittest import mock

from pyarrow import fs

BUCKET = "states"
KEY = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
STARTS = 60
"""Seconds that the server may take to answer first."""

_SERVER = """
import time
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
time.sleep(3600)
"""


@dataclass(frozen=True)
class ObjectStore:
    """A server with one bucket."""

    process: subprocess.Popen[str]
    port: int

    def uri(self, name: str, bucket: str = BUCKET) -> str:
        """A place in it, with all but the key that a process needs to reach it."""
        where = f"scheme=http&endpoint_override=127.0.0.1:{self.port}&region=us-east-1"
        return f"s3://{bucket}/{name}?{where}"

    def names(self, place: str) -> list[str]:
        """What lies below a place, by path."""
        found = fs.FileSelector(f"{BUCKET}/{place}", allow_not_found=True, recursive=True)
        return sorted(info.path for info in self._files.get_file_info(found) if info.is_file)

    def has(self, path: str) -> bool:
        """Whether there is an object of that name."""
        return bool(self._files.get_file_info(f"{BUCKET}/{path}").is_file)

    @cached_property
    def _files(self) -> fs.FileSystem:
        return fs.FileSystem.from_uri(self.uri(""))[0]


@contextmanager
def object_store(log: Path) -> Iterator[ObjectStore]:
    """A server that runs meanwhile, with an empty bucket, its key in the environment."""
    with open(log, "wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        assert process.stdout is not None
        store = ObjectStore(process, int(process.stdout.readline()))
        with mock.patch.dict(os.environ, KEY):
            _make_bucket(store)
            yield store
    finally:
        process.kill()
        process.communicate()


def _make_bucket(store: ObjectStore) -> None:
    made, _ = fs.FileSystem.from_uri(store.uri("") + "&allow_bucket_creation=true")
    deadline = time.monotonic() + STARTS
    while True:
        try:
            made.create_dir(BUCKET)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return
