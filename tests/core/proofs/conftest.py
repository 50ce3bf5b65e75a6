"""What tests of the checker share."""

from __future__ import annotations

import pytest

from checker.core.proofs.unbounded import unbounded_proof
from checker.core.proofs.unbounded.instantiate import BY_NEED, CHEAP


@pytest.fixture
def little_effort(monkeypatch):
    """No second attempts: what is false stays unknown at once."""
    monkeypatch.setattr(unbounded_proof, "DEAR", ())
    monkeypatch.setattr(unbounded_proof, "CHEAP", (*CHEAP[:3], BY_NEED))
