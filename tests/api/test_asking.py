"""Questions from Python that name an engine: both give the same answer, or say why they do not."""

from __future__ import annotations

from typing import Any

import pytest

from checker.api.asking import explore
from checker.core.search.limits import Progress
from model.language.errors import UsageError

SMALL: dict[str, Any] = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}


@pytest.mark.parametrize("protocol", ["truncate_to_high_watermark", "kip101"])
def test_every_engine_gives_the_same_answer(protocol):
    told: list[Progress] = []
    fast, slow = (
        explore(protocol, engine=engine, on_progress=told.append, **SMALL)
        for engine in ("local", "reference")
    )
    assert (slow.result.engine, fast.result.engine) == ("reference", "local")
    assert slow.summary == fast.summary and slow.result.levels == fast.result.levels
    assert [trace.steps for trace in slow.traces] == [trace.steps for trace in fast.traces]
    assert told[-1].states <= slow.result.distinct_states


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engine": "referenze"}, "'referenze'.*reference"),
        ({"engine": "reference", "symmetry": True}, "engine='local'"),
        ({"engine": "reference", "workers": 2}, "engine='local'"),
    ],
)
def test_an_engine_that_is_not_there_or_cannot_do_that_is_refused(options, words):
    with pytest.raises(UsageError, match=words):
        explore("kip101", **options, **SMALL)
