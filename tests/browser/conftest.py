"""A real browser for tests: Debian's Chromium, without a screen, that may look at nothing else."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from checker.telling.browse.server import Server
from tests.support.pages import stored

ARGUMENTS = (
    "--disable-background-networking", "--disable-component-update", "--disable-gpu",
    "--disable-quic", "--disable-sync", "--no-first-run", "--no-sandbox",
)  # fmt: skip
REFUSED = "the server responded with a status of 400"
"""What Chromium says of bad input; the page shows what is wrong with it."""

PLACES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests."""
    from playwright.sync_api import sync_playwright

    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, PLACES)), None)
    if found is None:
        pytest.fail("no Chromium is installed: make test-browser says how to get one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def look(chromium):
    """Open an address in a page of its own. At the end: no error, and no request elsewhere."""
    opened = []

    def at(address: str, width: int = 1280, height: int = 900, **options):
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        page = context.new_page()
        page.set_default_timeout(60_000)
        own = address.partition("#")[0]
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda said: None if REFUSED in said.text else wrong.append(said.text))
        page.on("dialog", lambda dialog: _refuse(dialog, wrong))
        page.on("request", lambda r: None if _is_own(r.url, own) else wrong.append(r.url))
        opened.append((context, wrong))
        page.goto(address)
        return page

    yield at
    for context, wrong in opened:
        context.close()
        assert wrong == []


def _refuse(dialog, wrong: list[str]) -> None:
    wrong.append(f"a dialog: {dialog.message}")
    dialog.dismiss()


def _is_own(url: str, own: str) -> bool:
    return url.startswith((own, "data:", "blob:"))


@pytest.fixture(scope="session")
def trace():
    """A short trace with a loss."""
    return stored("kip101-weak_isr")


@pytest.fixture
def served():
    """Serve walks, each on a port of its own; their addresses."""
    running = []

    def serve(walk, at: int = 0) -> str:
        server = Server(walk, at)
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        return server.address

    yield serve
    for server, thread in running:
        server.stop()
        thread.join(timeout=30)
        assert not thread.is_alive()


@pytest.fixture
def file_of(tmp_path):
    """The address of a page as a file."""

    def write(html: str, name: str = "page.html") -> str:
        path = Path(tmp_path) / name
        path.write_text(html, encoding="utf-8")
        return path.as_uri()

    return write


@pytest.fixture
def faults():
    """What axe-core finds wrong with a page, in words."""
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()

    def of(page) -> list[str]:
        found = axe.run(page).response["violations"]
        return [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in found]

    return of
