"""A store as a certificate: that what it says is exhausted is so, whatever the search did."""

from __future__ import annotations

from collections.abc import Iterator

from checker.core.certificate import Certificate
from checker.core.engines.layout import Layout
from checker.core.engines.reference import State
from checker.core.search.symmetry import symmetric_family
from checker.core.stores.level_files import read_rows
from checker.core.stores.query import properties_asked
from checker.core.stores.store import Store
from model.language.errors import UsageError
from model.language.protocol import Model


def certificate_of(store: Store, model: Model) -> Certificate:
    """What the store is to show: that its properties hold. `UsageError` if its search did not end.

    Whatever packed words come to is checked, so a wrong layout or a damaged file is noticed.
    """
    if not store.levels or store.levels[-1].size:
        raise UsageError(
            f"{store.location} is of a search that visited {len(store.levels)} levels and did not "
            "end: there is nothing to certify; go on with `explore` and --resume, or replay its "
            "trace"
        )
    options = store.manifest.options
    return Certificate(
        model,
        properties_asked(store, model.protocol),
        _states(store, model),
        symmetric_family(model) if options["symmetry"] else None,
        options["deadlock"],
    )


def _states(store: Store, model: Model) -> Iterator[State]:
    layout = Layout(model)
    for depth, file in store.files():
        yield from layout.unpack(read_rows(store.storage, depth, file, layout.words).words)
