"""Traces as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.core.traces.trace import Trace, TraceVerdict
from checker.telling.report.page_data import trace_data
from checker.telling.report.story import tell

if TYPE_CHECKING:
    from jinja2 import Environment

EPOCH_COLOURS = 6
WEB = Path(__file__).parent / "web"
SHARED = ("state.js", "diagram.js", "player.js")
"""What every page runs before a script of its own."""


def render_html(trace: Trace, about: str = "") -> str:
    """The trace as a self-contained HTML page, with what each step needed of earlier ones.

    `about`: what else is known of it, in a sentence.
    """
    story = tell(trace)
    data = trace_data(trace, story.why)
    if trace.verdict == TraceVerdict.NOT_INDUCTIVE:
        data["first"] = "a state that may be unreachable"
    return page(
        WEB / "trace.html.j2", WEB / "trace.js",
        story=story, about=about, colours=EPOCH_COLOURS, data=data,
    )  # fmt: skip


def page(template: Path, script: Path | None, policy: str = "", **values: Any) -> str:
    """A page whose style and scripts are written into it, and are all that may run there.

    Without a script none may run. `policy` is what its Content-Security-Policy allows besides.
    """
    from markupsafe import Markup

    style, code = style_sheet(), "" if script is None else script_code(script)
    allowed = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(code)}; "
        f"base-uri 'none'; form-action 'none'{policy}"
    )
    environment = _environment(template.parent)
    return environment.get_template(template.name).render(
        style=Markup(style), script=Markup(code), policy=allowed, **values
    )


def style_sheet() -> str:
    """The style that all pages share."""
    return _text(WEB / "page.css")


def script_code(script: Path) -> str:
    """What a page runs: what all share, and its own."""
    parts = [_text(path) for path in (*(WEB / name for name in SHARED), script)]
    return '"use strict";\n(() => {\n' + "".join(parts) + "})();\n"


def _digest(text: str) -> str:
    """A text as a Content-Security-Policy names it."""
    found = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{found}'"


@lru_cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@lru_cache
def _environment(folder: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(list(dict.fromkeys((folder, WEB)))),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
