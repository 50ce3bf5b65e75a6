"""What a store belongs to, as its `manifest.json` holds it: nobody may go on with another's store.

Names and bounds do not tell an edited protocol from the one before; its digest does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from checker.core.digest import definition_digest
from checker.core.search.question import Options
from checker.core.stores.checked import data_digest
from checker.core.stores.kinds import check_kinds
from checker.distribution import highwater_version
from model.language.errors import UsageError
from model.language.protocol import Model
from properties import Property

FORMAT = "highwater-store"
FORMAT_VERSION = 3
MANIFEST = "manifest.json"
_IDENTITY = {"protocol": str, "bounds": Mapping[str, int], "settings": Mapping[str, str]}


@dataclass(frozen=True)
class Manifest:
    """What a store belongs to. A run may only go on with a store that has the very same."""

    model: Mapping[str, Any]
    digest: str
    properties: tuple[str, ...]
    options: Mapping[str, bool]
    version: str

    @property
    def seal(self) -> str:
        """A digest of all of it, which the first level of the store has."""
        return data_digest(asdict(self))

    def to_json(self) -> bytes:
        """The manifest as its file holds it."""
        head = {"format": FORMAT, "format_version": FORMAT_VERSION}
        return json.dumps(head | asdict(self), indent=1).encode()

    @classmethod
    def from_json(cls, text: bytes, location: str) -> Manifest:
        """The manifest that `to_json` wrote; `UsageError` if it is none, or of another format."""
        foreign = UsageError(f"{location}/{MANIFEST} is not the manifest of a store of Highwater")
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise foreign from None
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise foreign
        number = data.pop("format_version", None)
        if number != FORMAT_VERSION:
            raise UsageError(
                f"{location} is a store of format {number}, written by version "
                f"{data.get('version')}, and this version reads format {FORMAT_VERSION}: search "
                "anew into another directory, or use that version"
            )
        try:
            found = cls(**(data | {"properties": tuple(data["properties"])}))
            check_kinds(found, cls)
            for part, kind in _IDENTITY.items():
                check_kinds(found.model[part], kind)
        except (KeyError, TypeError):
            raise foreign from None
        return found

    def check_same(self, wanted: Manifest, location: str) -> None:
        """Raise `UsageError` that names the first difference, unless `wanted` is the same."""
        for what, held, asked in _differences(self, wanted):
            raise UsageError(
                f"{location} is a store of another run: its {what} is {held}, not {asked}; "
                "name another directory, or the same protocol, settings, bounds and properties"
            )


def _differences(held: Manifest, asked: Manifest) -> Iterator[tuple[str, str, str]]:
    one, other = _flat(held), _flat(asked)
    for what in one | other:
        if one.get(what) != other.get(what):
            yield what, one.get(what, "nothing"), other.get(what, "nothing")


def _flat(manifest: Manifest) -> dict[str, str]:
    found = {"version": manifest.version, "protocol": str(manifest.model.get("protocol"))}
    for group, kind in (("bounds", "bound"), ("settings", "setting")):
        for name, value in manifest.model.get(group, {}).items():
            found[f"{kind} {name.replace('_', '-')}"] = str(value)
    found["set of properties"] = ", ".join(manifest.properties) or "none"
    for name, value in manifest.options.items():
        found[f"option {name}"] = "on" if value else "off"
    found["definition of the protocol"] = manifest.digest[:12]
    return found


def manifest_for(
    model: Model, properties: Iterable[Property], options: Options, spill: bool = False
) -> Manifest:
    """What a store of this search belongs to; of the options, those that change what it holds.

    With `spill` it is what a search beyond memory keeps.
    """
    chosen = tuple(properties)
    kept = {name: getattr(options, name) for name in ("exact", "deadlock", "symmetry")}
    kept |= {"spill": True} if spill else {}
    return Manifest(
        model.identity,
        definition_digest(model, chosen),
        tuple(prop.name for prop in chosen),
        kept,
        highwater_version(),
    )
