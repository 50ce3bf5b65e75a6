"""`growth`, and `explore --picture`: how many states each level has, as text and as a picture."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest

from checker.core.exits import Exit
from checker.telling.pictures.growth import Levels, as_svg

SVG = "{http://www.w3.org/2000/svg}"
SMALL = ("kip320", "--replicas", 2, "--log-size", 1, "--max-records", 1, "--max-leader-epoch", 1)


def curves(picture: str) -> dict[str, list[str]]:
    """What each mark of each curve says."""
    root = ElementTree.fromstring(picture)
    groups = [g for g in root.iter(f"{SVG}g") if g.get("class") == "curve"]
    return {
        g.get("data-name", ""): [t.text or "" for t in g.iter(f"{SVG}title")] for g in groups
    }  # fmt: skip


def said(name: str, sizes: list[int]) -> list[str]:
    return [f"{name}: depth {d}: {n:,} state{'s' * (n != 1)}" for d, n in enumerate(sizes)]


def test_levels_are_those_of_a_search_at_each_of_the_bounds(highwater, tmp_path):
    file = tmp_path / "growth.svg"
    ended = highwater("growth", *SMALL, "--vary", "log-size=1,2", "--picture", file, "--json")
    assert ended.status == Exit.OK
    for size, found in zip((1, 2), ended.json["searches"], strict=True):
        whole = highwater("explore", *SMALL, "--log-size", size, "--json").json
        assert found["sizes"] == whole["levels"]
        assert found["states"] == whole["distinct_states"] > 10
    names = ["log-size 1", "log-size 2"]
    expected = {n: said(n, s["sizes"]) for n, s in zip(names, ended.json["searches"], strict=True)}
    assert curves(file.read_text()) == expected


def test_settings_vary_too_and_the_table_has_a_column_for_each(highwater):
    ended = highwater("growth", *SMALL, "--vary", "fence_fetch=true,false", "--quiet")
    assert ended.status == Exit.OK
    head, first, *_ = ended.out.splitlines()
    assert head.split() == ["depth", "a", "b"] and first.split() == ["0", "1", "1"]
    assert re.search(r"^a = fence_fetch true: [\d,]+ states to depth \d+", ended.out, re.MULTILINE)
    assert re.search(r"^b = fence_fetch false: [\d,]+ states to depth", ended.out, re.MULTILINE)


def test_a_store_has_the_levels_of_its_search(highwater, tmp_path):
    store, file = tmp_path / "store", tmp_path / "growth.svg"
    searched = highwater("explore", *SMALL, "--store", store, "--json").json
    found = highwater("growth", "--store", store, "--picture", file, "--json").json["searches"]
    assert [each["sizes"] for each in found] == [searched["levels"]]
    assert found[0]["name"].startswith("kip320, replicas 2")
    assert list(curves(file.read_text()).values()) == [said(found[0]["name"], searched["levels"])]


def test_explore_draws_its_own_levels_up_to_a_violation(highwater, tmp_path):
    file = tmp_path / "levels.svg"
    asked = ("truncate_to_high_watermark", "--property", "weak_isr", "--json")
    ended = highwater("explore", *asked, "--picture", file)
    assert ended.status == Exit.VIOLATED
    ((name, words),) = curves(file.read_text()).items()
    assert words == said(name, ended.json["levels"])


def test_a_limit_is_said_and_is_status_20(highwater):
    ended = highwater("growth", *SMALL, "--max-states", 20, "--quiet")
    assert ended.status == Exit.LIMIT
    assert "stopped by" in ended.out


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("kip320", "--vary", "log-size"), "write NAME=VALUES"),
        (("kip320", "--vary", "log-size=1,,2"), "write NAME=VALUES"),
        (("kip320", "--vary", "log-size=1,1"), "write NAME=VALUES"),
        (("kip320", "--vary", "log-size=x"), "'x' is no size"),
        (("kip320", "--vary", "log-size=1,x"), "'x' is no size"),
        (("kip320", "--vary", "log-size=-1"), "'-1' is no size"),
        (("kip320", "--vary", "log-size=0"), "log"),
        (("kip320", "--vary", "nothing=1"), "bound or setting"),
        (("kip320", "--vary", "fence_fetch=maybe"), "fence_fetch"),
        (("kip320", "--vary", "log-size=" + ",".join(map(str, range(1, 14)))), "too many"),
        (("kip320", "--store", "nowhere"), "leave out PROTOCOL"),
        (("--store", "nowhere"), "nowhere"),
    ],
)
def test_bad_input_is_one_line(highwater, arguments, words):
    ended = highwater("growth", *arguments)
    assert ended.status == Exit.USAGE and ended.out == ""
    assert ended.err.count("\n") == 1 and words in ended.err


def heights(picture: str) -> list[list[tuple[float, float]]]:
    """Where each curve's marks are."""
    root = ElementTree.fromstring(picture)
    groups = [g for g in root.iter(f"{SVG}g") if g.get("class") == "curve"]
    found = [[p.get("transform", "") for p in g.iter(f"{SVG}path")] for g in groups]
    numbers = [[re.findall(r"[\d.]+", each) for each in curve if each] for curve in found]
    return [[(float(x), float(y)) for x, y in curve] for curve in numbers]


def test_the_axis_is_logarithmic_and_shared():
    one, other = heights(as_svg("Growth", [Levels("a", (1, 10, 100, 1000)), Levels("b", (10, 1))]))
    across = [b - a for (a, _), (b, _) in itertools.pairwise(one)]
    up = [a - b for (_, a), (_, b) in itertools.pairwise(one)]
    for steps in (across, up):
        assert steps[0] > 0 and max(steps) - min(steps) < 0.2
    assert (other[0][1], other[1][1]) == (one[1][1], one[0][1])
    assert [x for x, _ in other] == [x for x, _ in one[:2]]


def test_curves_are_told_apart_by_more_than_colour():
    picture = as_svg("Growth", [Levels(f"n{k}", (1, 5)) for k in range(12)])
    root = ElementTree.fromstring(picture)
    shapes = set()
    for group in [g for g in root.iter(f"{SVG}g") if g.get("class") == "curve"]:
        line, mark, *_ = group.findall(f"{SVG}path")
        shapes.add((line.get("stroke-dasharray"), mark.get("d")))
    assert len(shapes) == 12


def test_names_may_hold_anything_and_nothing_found_is_a_picture_too():
    picture = as_svg("<b>&", [Levels('</title><script>"', (), "time")])
    root = ElementTree.fromstring(picture)
    assert "<script" not in picture and root.findtext(f"{SVG}title") == "<b>&"
    assert "no level was finished (stopped by time)" in (root.findtext(f"{SVG}desc") or "")
