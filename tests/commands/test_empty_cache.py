"""A fresh machine: no machine code is kept yet. Commands end as they do where it is."""

from __future__ import annotations

import pytest

from checker.core.exits import Exit

FIRST = [
    ("explore kafka --crashes 2 --false-fencings 1 --symmetry", Exit.VIOLATED),
    ("explore truncate_to_high_watermark --property strong_isr", Exit.VIOLATED),
    ("explore kafka_producer --preset kafka-4.3", Exit.VIOLATED),
    ("simulate kip320 --replicas 5 --log-size 8 --walks 100", Exit.OK),
    ("explain kip101-weak_isr", Exit.OK),
]
"""What the README has a reader try first, as far as it is quick."""


@pytest.mark.parametrize("text, status", FIRST, ids=[text for text, _ in FIRST])
def test_a_command_that_begins_with_an_empty_cache(finish, tmp_path, text, status):
    ended = finish(*text.split(), env={"HIGHWATER_CACHE": str(tmp_path / "cache")})
    assert (ended.status, "error" in ended.err) == (status, False), ended.err
