"""Reports: a trace for people, as text, Markdown, a Mermaid diagram or one HTML page."""

from checker.report.html import render_html
from checker.report.markdown import render_markdown
from checker.report.mermaid import render_mermaid
from checker.report.text import render_text

__all__ = ["render_html", "render_markdown", "render_mermaid", "render_text"]
