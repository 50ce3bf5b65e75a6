"""Traces as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from checker.report.story import tell
from checker.traces.trace import Trace

if TYPE_CHECKING:
    from jinja2 import Template

EPOCH_COLOURS = 6


def render_html(trace: Trace) -> str:
    """The trace as a self-contained HTML page."""
    return _template().render(story=tell(trace), colours=EPOCH_COLOURS)


@lru_cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html.j2")
