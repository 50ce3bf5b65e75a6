"""Builds the documentation as a static site, with a page for each counterexample and the pictures.

README.md, docs/ and the stories of counterexamples stand in the site as in the repository, so their
links hold. What they link to besides, such as a source file, is copied beside them as plain text,
and a folder without a page gets one that lists its files. A link to nothing stops the build. The
site needs no network, neither to be built nor to be looked at: open site/index.html. Only the page
to try Highwater on has to be served, and to build it takes npm: without it, it is left out.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from try_page import TRY, NotToBeHadError, try_page, write_try

ROOT = Path(__file__).resolve().parents[1]
OWN = Path(__file__).resolve().parent / "site"
PAGES = (
    "README.md", "docs/**/*.md", "counterexamples/**/README.md",
    "counterexamples/matrix/*.md",
    "counterexamples/mutants/*.md",
)  # fmt: skip
GRIDS = {
    "docs/guarantees-grid.md": "Guarantees",
    "docs/kill-matrix-kafka-grid.md": "Kill matrix of kafka",
    "docs/kill-matrix-kip320-grid.md": "Kill matrix of kip320",
}
"""Pages around a picture, by path, each with its name in the menu."""
TRACE = "trace.html"
PICTURES = (".svg", ".png")
MUTANTS = "counterexamples/mutants"
TRACES = "counterexamples/matrix/guarantees.md"

_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_COMMENT = re.compile(r"^(<!--.*-->\n)(?=\|)", re.MULTILINE)  # else it swallows the table below
_ELSEWHERE = re.compile(r"[a-z]+:|//|#")


class DeadLinkError(Exception):
    """A page links to what is not in the repository."""


# --- links ---------------------------------------------------------------------------------------


def rewritten(text: str, page: str, root: Path = ROOT) -> tuple[str, set[str]]:
    """A page's text with its links as the site has them, and what these need besides pages.

    `page` is the page's path in the repository, as are those that are needed: files to be copied
    as text, and folders that need a list of their files.
    """
    needed: set[str] = set()

    def change(match: re.Match[str]) -> str:
        target, mark, anchor = match[1].partition("#")
        if _ELSEWHERE.match(match[1]):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if path.startswith("..") or not (root / path).exists():
            raise DeadLinkError(f"{page} links to {match[1]}, which is not there")
        if (root / path).is_dir():
            if not (root / path / "README.md").exists():
                needed.add(path)
            target = f"{target.rstrip('/')}/README.md"
        elif not path.endswith(".md"):
            needed.add(path)
            target += "" if path.endswith(PICTURES) else ".txt"
        return f"]({target}{mark}{anchor})"

    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_LINK.sub(change, text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, _LINK.sub(change, text[end:])]), needed


def slug(words: str, separator: str = "-") -> str:
    """The anchor of a heading, as the links in the pages name it."""
    plain = re.sub(r"[^\w\- ]", "", words.strip().lower())
    return plain.replace(" ", separator)


def listing(folder: str, files: list[str]) -> str:
    """The page of a folder that has none."""
    kept = (".md", *PICTURES)
    links = [f"- [{name}]({name if name.endswith(kept) else name + '.txt'})" for name in files]
    return "\n".join([f"# {folder}", "", *links, ""])


# --- what goes into the site ---------------------------------------------------------------------


def stage(staging: Path, root: Path = ROOT) -> None:
    """Copy the pages, and what they link to, into a folder as the site has them."""
    needed: set[str] = set()
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            text, more = rewritten(path.read_text(encoding="utf-8"), name, root)
            needed |= more
            _write(staging / name, _COMMENT.sub(r"\1\n", text))
    for name in sorted(needed):
        path = root / name
        if path.is_dir():
            files = sorted(file.name for file in path.iterdir() if file.is_file())
            _write(staging / name / "README.md", listing(name, files))
            plain = [path / file for file in files if not file.endswith(".md")]
        else:
            plain = [path]
        for file in plain:
            suffix = "" if file.name.endswith(PICTURES) else ".txt"
            copy = staging / f"{file.relative_to(root).as_posix()}{suffix}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def add_traces(staging: Path) -> int:
    """Write a page for each stored counterexample, linked from its story; how many there are."""
    from checker.core.files import COUNTEREXAMPLES
    from checker.lab.experiments.cases import PAGE_FILE, read_cases
    from checker.lab.explanations.explanation import recognised_words
    from checker.telling.report.html import render_html

    cases = read_cases(COUNTEREXAMPLES)
    for case in cases:
        folder = staging / case.folder.relative_to(COUNTEREXAMPLES.parent)
        trace = case.stored_trace()
        _write(folder / TRACE, render_html(trace, recognised_words(trace)))
        words = f"[Step through it]({TRACE}), with whole states, messages and causes."
        _insert(folder / PAGE_FILE, "\n## The trace\n", f"\n## The trace\n\n{words}\n")
    return len(cases)


def add_grid(staging: Path) -> None:
    """Write the page of the guarantees as a picture that can be filtered."""
    from checker.core.files import COUNTEREXAMPLES
    from checker.core.search.limits import Limits
    from checker.lab.experiments.matrix import read_matrix
    from checker.lab.experiments.matrix_picture import as_svg

    spec = COUNTEREXAMPLES / "matrix" / "guarantees.toml"
    matrix = read_matrix(spec, Limits())
    sweep = matrix.sweep(store=spec.with_suffix(".jsonl"), whatever_sources=True)
    page = staging / "docs" / "guarantees.md"
    traces = (staging / TRACES).read_text(encoding="utf-8")
    picture = as_svg(matrix, sweep.results, links_of(traces))
    _write(staging / "docs" / "guarantees.svg", as_svg(matrix, sweep.results))
    words = f"A cell leads to its trace. [What rows and columns stand for](../{TRACES})."
    _write(staging / "docs" / "guarantees-grid.md", grid_page(matrix.title, words, picture))
    shutil.copy(OWN / "grid.js", staging / "docs" / "grid.js")
    words = "[The tables as a picture](guarantees-grid.md), which can be filtered."
    _insert(page, "\n|  |", f"\n{words}\n\n|  |")


def add_kill_matrices(staging: Path) -> None:
    """Write, for each page of a kill matrix, one with its picture, and what survives, to filter."""
    from checker.lab.experiments.kill_table import as_svg, read_table

    for page in sorted((staging / MUTANTS).glob("*.md")):
        table = read_table(page)
        own = staging / "docs" / f"{page.stem}-grid.md"
        words = (
            f"{table.summary} What survives leads to the reasons. "
            f"[What numbers and words stand for, and the tables](../{MUTANTS}/{page.name})."
        )
        survivors = "\n".join(
            f'<li data-name="{escape(each.mutant)}"><code>{escape(each.mutant)}</code> '
            f"({each.outcome}): {escape(each.reason)}</li>"
            for each in table.survivors
        )
        text = grid_page(f"Kill matrix of {table.protocol}", words, as_svg(table, "#survivors"))
        listed = f'<h2 id="survivors">What no property notices</h2>\n<ul>\n{survivors}\n</ul>\n'
        _write(own, f"{text}\n{listed}")
        _write(own.with_name(f"{page.stem}.svg"), as_svg(table))
        words = f"[As a picture](../../docs/{own.name}), with what survives, to filter."
        _insert(page, "\nBounds: ", f"\n{words}\n\nBounds: ")


def add_schedules(staging: Path) -> None:
    """Show each schedule as lanes on the page of its finding, before how to play it."""
    from checker.kafka.cluster.picture import picture_of
    from checker.kafka.cluster.schedule import every_schedule

    told: dict[Path, list[str]] = {}
    for schedule in every_schedule():
        (page,) = (staging / "docs" / "findings").glob(f"{schedule.finding}-*.md")
        lanes = picture_of(schedule)
        told.setdefault(page, []).append(
            f"### `--schedule {schedule.name}`\n\n{escape(schedule.title)}.\n\n"
            f"{framed(lanes.svg(), f'Schedule {schedule.name}')}"
        )
    for page, pictures in told.items():
        _insert(page, "\n## Runs", "\n## As lanes\n\n" + "\n\n".join(pictures) + "\n\n## Runs")


def add_try(staging: Path) -> None:
    """Write the page on which one tries Highwater, and what it runs.

    `NotToBeHadError` if Python for browsers cannot be had.
    """
    write_try(staging / TRY.removesuffix(".md"))
    _write(staging / TRY, try_page())
    _insert(staging / "README.md", "\n![", f"\n[Try it in your browser]({TRY}).\n\n![")


def framed(picture: str, words: str) -> str:
    """A picture in the middle of a page, in room of its own that scrolls and that keys reach."""
    return (
        f'<div class="picture" tabindex="0" role="region" aria-label="{escape(words)}">\n'
        f"{picture.strip()}\n</div>"
    )


def links_of(page: str) -> dict[tuple[str, str], str]:
    """Where each cell of a page's first table leads, by the names of its row and column."""
    table = [line for line in page.split("\n## ", 1)[0].splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]
    found: dict[tuple[str, str], str] = {}
    for row in rows[2:]:
        if len(row) != len(rows[0]):
            break  # the next table
        for column, cell in zip(rows[0][1:], row[1:], strict=True):
            link = _LINK.search(cell)
            if link is not None:
                found[row[0], column] = f"../{TRACES.removesuffix('.md')}.html{link[1]}"
    return found


def grid_page(title: str, words: str, picture: str) -> str:
    """The page around a grid picture, with its filters; without scripts, it shows all of it."""
    return f"""# {title}: as a picture

{words} Each word that is typed has to be in a name.

<div class="filters">
<label>Rows <input id="rows" type="search" placeholder="words of names"></label>
<label>Columns <input id="columns" type="search" placeholder="words of names"></label>
</div>
<p id="shown" role="status"></p>
{framed(picture, "The grid")}
<script src="grid.js" defer></script>
"""


# --- the generator -------------------------------------------------------------------------------


def configuration(staging: Path, site: Path) -> dict[str, Any]:
    """What the generator is told: no address of another host, links that work from the disk."""
    return {
        "site_name": "Highwater",
        "docs_dir": str(staging),
        "site_dir": str(site),
        "use_directory_urls": False,
        "theme": {
            "name": "mkdocs", "custom_dir": str(OWN / "theme"), "highlightjs": False,
            "color_mode": "auto", "user_color_mode_toggle": True, "navigation_depth": 2,
        },
        "extra_css": ["site.css"],
        "plugins": ["search"],
        "markdown_extensions": ["tables", "fenced_code", "sane_lists", {"toc": {"slugify": slug}}],
        "validation": {
            "nav": {"omitted_files": "info", "not_found": "warn"},
            "links": {"not_found": "warn", "anchors": "warn", "unrecognized_links": "warn"},
        },
        "strict": True,
        "nav": navigation(staging),
    }  # fmt: skip


def accessible(page: str) -> str:
    """A page with what the theme leaves out for those who go by keys or by ear."""
    changes = {
        '<div class="navbar ': '<div role="navigation" aria-label="Site" class="navbar ',
        "<th></th>": "<td></td>",
        "<pre>": '<pre tabindex="0">',  # what is too wide scrolls, by keys too
        "<table>": '<table tabindex="0">',
    }
    for plain, better in changes.items():
        page = page.replace(plain, better)
    return page


def navigation(staging: Path) -> list[Mapping[str, Any]]:
    """The menu: pages by what they are for. The stories are listed on pages of their own."""
    guide = [page for page in _below(staging, "docs") if page not in (*GRIDS, TRY)]
    return [
        {"Home": "README.md"},
        *([{"Try it": TRY}] if (staging / TRY).exists() else []),
        {"Guide": guide},
        {"Pictures": [{name: page} for page, name in GRIDS.items()]},
        {"Findings": _below(staging, "docs/findings")},
        {"Counterexamples": [
            {"The broker model": "counterexamples/kafka/README.md"},
            {"The producer model": "counterexamples/kafka_producer/README.md"},
            {"The group model": "counterexamples/kafka_group/README.md"},
            {"The tiered model": "counterexamples/kafka_tiered/README.md"},
            {"The transaction model": "counterexamples/kafka_transactions/README.md"},
            {"The model of a task": "counterexamples/kafka_streams/README.md"},
            {"The KRaft model": "counterexamples/kraft/README.md"},
            {"The ladder": "counterexamples/ladder/README.md"},
        ]},
        {"Decisions": _below(staging, "docs/decisions")},
    ]  # fmt: skip


def build(site: Path, root: Path = ROOT) -> int:
    """Build the site into a folder, which is replaced; how many counterexamples have a page."""
    from mkdocs.commands.build import build as generate
    from mkdocs.config.defaults import MkDocsConfig

    with tempfile.TemporaryDirectory(prefix="highwater-site-") as folder:
        staging = Path(folder) / "pages"
        stage(staging, root)
        count = add_traces(staging)
        add_grid(staging)
        add_kill_matrices(staging)
        add_schedules(staging)
        try:
            add_try(staging)
        except NotToBeHadError as error:
            print(f"build_site: no page to try it on: {error}", file=sys.stderr)
        shutil.copy(OWN / "site.css", staging / "site.css")
        config = MkDocsConfig(config_file_path=str(Path(folder) / "mkdocs.yml"))
        config.load_dict(configuration(staging, Path(folder) / "site"))
        errors, warnings = config.validate()
        if errors or warnings:
            raise SystemExit(f"build_site: {[*errors, *warnings]}")
        generate(config)
        for useless in ("404.html", "sitemap.xml", "sitemap.xml.gz"):  # for servers alone
            (Path(folder) / "site" / useless).unlink(missing_ok=True)
        for page in (Path(folder) / "site").rglob("*.html"):
            if page.name != TRACE:  # which is whole as it is
                _write(page, accessible(page.read_text(encoding="utf-8")))
        if site.exists():
            shutil.rmtree(site)
        shutil.move(Path(folder) / "site", site)
    return count


def _below(staging: Path, folder: str) -> list[str]:
    found = sorted((staging / folder).glob("*.md"), key=lambda p: (p.name != "README.md", p.name))
    return [path.relative_to(staging).as_posix() for path in found]


def _insert(page: Path, before: str, after: str) -> None:
    text = page.read_text(encoding="utf-8")
    if before not in text:
        raise SystemExit(f"build_site: {page.name} has no {before.strip()!r}")
    _write(page, text.replace(before, after, 1))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the documentation as a static site.")
    parser.add_argument("site", nargs="?", type=Path, default=ROOT / "site")
    site = parser.parse_args().site
    if site.exists() and any(site.iterdir()) and not (site / "index.html").exists():
        sys.exit(f"build_site: {site} holds something else than a site; name another folder")
    sys.path.insert(0, str(ROOT))
    print(f"{site.name}/index.html: {build(site.resolve())} counterexamples have their pages")


if __name__ == "__main__":
    main()
