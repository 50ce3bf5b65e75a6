"""An engine is one declaration: what it cannot do is refused from that, and told with who can."""

import pytest

from checker.commands.engines import ENGINES
from checker.commands.explore_command import command
from model.language.errors import UsageError

OF_SOME = frozenset().union(*(engine.takes for engine in ENGINES.values()))


def test_what_an_engine_takes_is_an_option_of_explore():
    assert {param.name for param in command.params} >= OF_SOME


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_an_engine_refuses_exactly_what_only_others_take(engine):
    for name in sorted(OF_SOME):
        engine.refuse({name: None, "depth": 3, "exact": True})
        if name in engine.takes:
            engine.refuse({name: True})
            continue
        with pytest.raises(UsageError) as refused:
            engine.refuse({name: True})
        others = [each.name for each in ENGINES.values() if name in each.takes]
        assert f"--{name.replace('_', '-')} goes with --engine {' or '.join(others)}" in str(
            refused.value
        )
        assert "\n" not in str(refused.value)
