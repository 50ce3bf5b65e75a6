"""The page of `ask --bootstrap-server --html` in a real browser, of a cluster that was recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checker.kafka.live.dangers import judge
from checker.kafka.live.groups import groups_of
from checker.kafka.live.judged import Judged
from checker.kafka.live.page import render
from checker.kafka.live.stored import read
from tests.support.pages import wider_than_the_page

pytestmark = pytest.mark.browser

RECORDED = Path(__file__).parents[1] / "kafka" / "live" / "five_brokers.json"
"""Five brokers of 4.3.1, two of them down, after a change of a topic's `min.insync.replicas`."""

LONG = "t" * 249  # as long as a topic's name may be


@pytest.fixture
def address(file_of):
    cluster = read(RECORDED)
    longest = replace(cluster.topics[0], name=LONG, settings={})
    cluster = replace(cluster, topics=(*cluster.topics, longest))
    groups = [Judged(group, (), 2, "no answer within the time") for group in groups_of(cluster)]
    return file_of(render(cluster, judge(cluster), groups))


@pytest.mark.parametrize("width, scheme", [(380, "light"), (1280, "dark")])
def test_all_is_read_without_scrolling_sideways_and_axe_finds_nothing(
    look, address, faults, width, scheme
):
    page = look(address, width, color_scheme=scheme)  # which allows no request elsewhere
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert wider_than_the_page(page) == []
    assert faults(page) == []
    assert page.get_by_text("topic-4-2: ISR 0, ELR none").is_visible()
