"""A protocol on its way to workers: its name if they know it, else the files that declare it.

Workers may be on other machines: what a user's own file imports from beside it goes along. What is
installed, or this project's, is found there by its name.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from model.language.errors import UsageError
from model.language.protocol import Protocol
from model.own_protocols import FORMS, files_of
from model.protocols import protocol_named, reference_of


@dataclass(frozen=True)
class ProtocolParcel:
    """What `protocol_named` finds a protocol by; with `files`, after they are written somewhere.

    `files` are relative paths with contents; the first one declares the protocol.
    """

    name: str
    files: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(protocol: Protocol) -> ProtocolParcel:
        """The parcel of a protocol that has a name; else `UsageError`."""
        name = reference_of(protocol)
        if not name:
            raise UsageError(
                f"{protocol.name} is not one of the protocols that workers can build: declare it "
                f"at the top of a file, and give {FORMS}"
            )
        files = tuple(files_of(protocol).items())
        return ProtocolParcel(name.rpartition(":")[2] if files else name, files)

    def opened(self) -> Protocol:
        """The protocol, here: in the process that calls this."""
        if not self.files:
            return protocol_named(self.name)
        return protocol_named(f"{_written(self.files)}:{self.name}")


def _written(files: tuple[tuple[str, str], ...]) -> Path:
    """Where the first file is, after all have been written to a folder of their content's name."""
    digest = hashlib.sha256(repr(files).encode()).hexdigest()[:16]
    parent = Path(tempfile.gettempdir()) / f"highwater-protocols-{os.getuid()}"
    parent.mkdir(mode=0o700, exist_ok=True)
    if parent.stat().st_uid != os.getuid():
        raise PermissionError(f"{parent} belongs to someone else")
    folder = parent / digest
    for name, text in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_name(f"{path.name}.{os.getpid()}")
        whole.write_text(text, encoding="utf-8")
        whole.replace(path)  # another worker may read it
    return folder / files[0][0]
