"""The documentation as a static site: no dead link in it, and nothing loaded from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from checker.core.files import COUNTEREXAMPLES
from checker.kafka.cluster.picture import picture_of
from checker.kafka.cluster.schedule import every_schedule
from checker.lab.experiments.cases import read_cases
from checker.lab.experiments.kill_table import as_svg, read_table
from tests.support.scripts import script

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "build_site.py"


@pytest.fixture(scope="module")
def build_site():
    return script("build_site")


@pytest.fixture
def repository(tmp_path):
    """A small repository with pages, a source file and a folder without a page."""
    for name in ("docs/a.md", "docs/told/README.md", "checker/core/exits.py",
                 "docs/examples/own.py", "docs/told/states.svg",
                 "docs/told/page.png"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# Words\n")
    return tmp_path


@pytest.mark.parametrize(
    ("link", "in_the_site", "needed"),
    [
        ("a.md#words", "a.md#words", set()),
        ("told/", "told/README.md", set()),
        ("../docs/told/", "../docs/told/README.md", set()),
        ("../checker/core/exits.py", "../checker/core/exits.py.txt", {"checker/core/exits.py"}),
        ("examples/", "examples/README.md", {"docs/examples"}),
        ("told/states.svg", "told/states.svg", {"docs/told/states.svg"}),
        ("told/page.png", "told/page.png", {"docs/told/page.png"}),
        ("#words", "#words", set()),
        ("https://kafka.apache.org/x/", "https://kafka.apache.org/x/", set()),
    ],
)
def test_links_lead_to_what_the_site_has(build_site, repository, link, in_the_site, needed):
    text = f"See [`words`]({link}), and `[code](gone.md)`.\n```\n[code](gone.md)\n```\n"
    rewritten = build_site.rewritten(text, "docs/b.md", repository)
    assert rewritten == (text.replace(link, in_the_site), needed)


@pytest.mark.parametrize("link", ["gone.md", "../../outside.md", "told/gone.py#words"])
def test_a_dead_link_stops_the_build(build_site, repository, link):
    with pytest.raises(build_site.DeadLinkError, match=re.escape(link)):
        build_site.rewritten(f"[words]({link})", "docs/b.md", repository)


def test_every_link_of_the_repositorys_pages_leads_somewhere(build_site, tmp_path):
    build_site.stage(tmp_path)
    for link in ("README.md", "docs/decisions/README.md", "docs/examples/paxos.py.txt"):
        assert (tmp_path / link).is_file()
    picture = "docs/pictures/trace.png"
    assert (tmp_path / picture).read_bytes() == (ROOT / picture).read_bytes()


def test_the_cells_of_the_guarantees_lead_to_traces_that_the_page_has(build_site):
    page = (ROOT / build_site.TRACES).read_text()
    links = build_site.links_of(page)
    cells = re.findall(r"\]\(#trace-", page)
    assert len(links) == len(cells) > 50
    for link in links.values():
        name, number = link.split("#trace-")
        assert (
            name == "../counterexamples/matrix/guarantees.html"
            and f"\n### Trace {number}\n" in page
        )


def test_the_page_of_a_finding_shows_each_of_its_schedules_as_it_is(build_site, tmp_path):
    build_site.stage(tmp_path)
    build_site.add_schedules(tmp_path)
    for schedule in every_schedule():
        (page,) = (tmp_path / "docs" / "findings").glob(f"{schedule.finding}-*.md")
        assert picture_of(schedule).svg().strip() in page.read_text(), schedule.name


def test_each_kill_matrix_has_a_page_with_its_picture_which_its_own_page_leads_to(
    build_site, tmp_path
):
    build_site.stage(tmp_path)
    build_site.add_kill_matrices(tmp_path)
    for name in ("kafka", "kip320"):
        page = tmp_path / build_site.MUTANTS / f"kill-matrix-{name}.md"
        table = read_table(ROOT / build_site.MUTANTS / page.name)
        grid = tmp_path / "docs" / f"kill-matrix-{name}-grid.md"
        assert f"](../../docs/{grid.name})" in page.read_text() and str(
            grid.relative_to(tmp_path)
        ) in (build_site.GRIDS)
        text = grid.read_text()
        assert as_svg(table, "#survivors").strip() in text
        assert all(escape(each.reason) in text for each in table.survivors)


def npm(folder, monkeypatch, script="exit 1"):
    """An npm that does what a shell script says, and no other."""
    (folder / "npm").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_python_for_browsers_that_is_not_to_be_had_is_told_in_a_line(
    build_site, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(build_site.NotToBeHadError, match="there is no npm"):
        build_site.write_try(tmp_path / "try")
    npm(tmp_path, monkeypatch)
    with pytest.raises(build_site.NotToBeHadError, match="npm brings no pyodide@"):
        build_site.add_try(tmp_path / "pages")
    assert not (tmp_path / "pages").exists()


def test_other_bytes_than_those_that_are_pinned_stop_the_build(build_site, tmp_path, monkeypatch):
    npm(tmp_path, monkeypatch, "echo other >pyodide.tgz")
    with pytest.raises(SystemExit, match=r"is not what pyodide\.json pins"):
        build_site.write_try(tmp_path / "try")
    assert not (tmp_path / "try").exists()


class Page(HTMLParser):
    """A page's links, what it loads, and the places that links may name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places |= {value for name in ("id", "name") if (value := given.get(name))}
        goes_to = given.get("href") or given.get("xlink:href")
        if goes_to:
            (self.links if tag == "a" else self.loaded).append(goes_to)
        self.loaded += [value for name in ("src", "srcset", "data") if (value := given.get(name))]


def dead_links(site: Path) -> list[str]:
    """Links and addresses of a site, not of other hosts, that name no file or place of it."""
    pages = {path: Page(path) for path in site.rglob("*.html")}
    dead = []
    for path, page in pages.items():
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            known = target.is_file() and target.is_relative_to(site.resolve())
            if not known or (place and target in pages and place not in pages[target].places):
                dead.append(f"{path.relative_to(site)}: {link}")
    return dead


def loaded_from_elsewhere(site: Path) -> list[str]:
    """Scripts, styles, pictures and fonts of a site that are another host's."""
    foreign = [
        f"{path.relative_to(site)}: {address}"
        for path in site.rglob("*.html")
        for address in Page(path).loaded
        if urlsplit(address).netloc
    ]
    for path in site.rglob("*.css"):
        used = re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')]+)", path.read_text(encoding="utf-8"))
        foreign += [f"{path.relative_to(site)}: {a}" for a in used if urlsplit(a).netloc]
    return foreign


def of_the_site(test):
    """Among the tests in a browser the site is built once, for these and for a look at it."""
    return pytest.mark.browser(pytest.mark.xdist_group("site")(test))


def test_dead_links_and_what_is_loaded_from_elsewhere_are_noticed(tmp_path):
    (tmp_path / "b.html").write_text("<h1 id=here>b</h1><a href='https://kafka.apache.org/'>k</a>")
    links = ("b.html", "b.html#here", "b.html#gone", "gone.html", "../outside.html", "#gone")
    words = [f"<a href='{link}'>words</a>" for link in links]
    words += ["<script src='//host.example/x.js'></script>", "<img src='gone.png'>"]
    words += ["<link rel=stylesheet href='https://host.example/x.css'>"]
    (tmp_path / "a.html").write_text("".join(words))
    (tmp_path / "a.css").write_text("p { background: url('https://host.example/y.png') }")
    (tmp_path.parent / "outside.html").write_text("outside")
    dead = [f"a.html: {link}" for link in (*links[2:], "gone.png")]
    assert dead_links(tmp_path) == dead
    assert loaded_from_elsewhere(tmp_path) == [
        "a.html: //host.example/x.js",
        "a.html: https://host.example/x.css",
        "a.css: https://host.example/y.png",
    ]


@of_the_site
def test_the_site_has_no_dead_link(site):
    assert len([*site.rglob("*.html")]) > 150
    assert dead_links(site) == []


@of_the_site
def test_the_site_loads_nothing_from_elsewhere(site):
    assert loaded_from_elsewhere(site) == []


@of_the_site
def test_the_site_has_a_page_for_each_counterexample_and_its_story_leads_there(site):
    for case in read_cases(COUNTEREXAMPLES):
        folder = site / "counterexamples" / case.folder.relative_to(COUNTEREXAMPLES)
        assert "trace.html" in Page(folder / "index.html").links
        assert case.violates in (folder / "trace.html").read_text(encoding="utf-8")


@of_the_site
def test_the_site_does_not_tell_where_it_was_built(site):
    for path in site.rglob("*"):
        if path.suffix in {".html", ".js", ".json", ".css", ".svg", ".txt"}:
            text = path.read_text(encoding="utf-8")
            assert str(ROOT) not in text and str(site.parent) not in text, path


@of_the_site
def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "precious").write_text("words")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)], check=False, capture_output=True, text=True
    )
    assert done.returncode != 0 and "holds something else" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
