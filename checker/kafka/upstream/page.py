"""A finding's page, taken apart: what its head says, and its sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

_LINK = re.compile(r"\[([^\]]*)\]\(\s*([^)\s]*)\)")


@dataclass(frozen=True)
class Page:
    """The head and the sections, by their titles, as Markdown.

    `effect` is what goes wrong and how it comes to be; `heads` are "Affected", "Noticed by", "What
    to do today" and the others; `more` is what else stands before the first section.
    """

    title: str
    effect: str
    heads: Mapping[str, str]
    more: str
    sections: Mapping[str, str]

    @property
    def in_short(self) -> str:
        """What goes wrong, in a few words that begin small."""
        words = " ".join(self.effect.split("**")[1].split()).rstrip(".")
        return words[:1].lower() + words[1:]

    def linked(self, text: str) -> str:
        """The sections that the text names as "below", for where the page is not at hand."""
        slugs = {_slug(title): title for title in self.sections}
        targets = [to[1:] for words, to in _LINK.findall(text) if words == "below"]
        return "\n\n".join(self.sections[slugs[slug]] for slug in targets if slug in slugs)


def read_page(path: Path) -> Page:
    """A page of `docs/findings`."""
    text = path.read_text(encoding="utf-8")
    head, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    title, effect, block, *more = head.strip("\n").split("\n\n")
    bullets = re.findall(r"- \*\*([A-Za-z ]+)\*\*:\s(.*?)(?=\n- \*\*|\Z)", block, re.DOTALL)
    sections = {name: body.strip("\n") for name, _, body in (p.partition("\n") for p in parts)}
    return Page(
        title.partition(": ")[2], effect,
        {name: " ".join(words.split()) for name, words in bullets}, "\n\n".join(more), sections,
    )  # fmt: skip


def _slug(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def without_links(text: str, named: Callable[[str], str]) -> str:
    """The Markdown with links as their words; of another finding's number, what `named` says."""

    def words(match: re.Match[str]) -> str:
        return named(match[1]) if re.fullmatch(r"\d{4}", match[1]) else match[1]

    return _LINK.sub(words, text)
