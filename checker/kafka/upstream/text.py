"""The text of a ticket: JIRA's fields, and a description that stands without this repository."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from checker.kafka.cluster.schedule import FOLDER, read_schedule
from checker.kafka.releases.patch import Changed, Unit, fixes
from checker.kafka.upstream.finding import Finding
from checker.kafka.upstream.page import without_links
from checker.kafka.upstream.tree import main_folder, part_of
from model.language.declare.history import version_of

_TRIED = re.compile(
    r"(?:`--workaround`|Tried): kept in (\d+ of \d+) on ([\d.]+\d)(, as the control)?\."
)

_FLAG = re.compile(r"`(--(?:workaround|control|patched|schedule)\b[^`]*)`")


def text_of(
    finding: Finding, version: str, changed: Sequence[Changed], units: Mapping[str, Unit],
    titles: Mapping[str, str],
) -> str:  # fmt: skip
    """The ticket as Markdown.

    `changed` are the sources that the patch changes, `units` the tests by the full names of their
    classes; `titles` are the summaries of all findings, as pages name each other.
    """

    def plain(text: str) -> str:
        told = without_links(text, lambda other: f'the ticket "{titles.get(other, other)}"')
        told = _TRIED.sub(r"Tried on clusters of \2: nothing was lost or stuck in \1 runs.", told)
        return _FLAG.sub(rf"`highwater reproduce {finding.number} \1`", told)

    page, row = finding.page, finding.row
    fields = {
        "Summary": finding.summary,
        "Issue type": "Bug",
        "Priority": f"{finding.priority}: {_why(finding)}",
        "Component": component(finding),
        "Affects versions": f"{', '.join(finding.versions)} ({row.span.words})",
        "Fix versions": ", ".join(fix_versions(finding)),
    }
    lines = [f"# {finding.summary}", ""]
    lines += [f"- **{name}**: {words}" for name, words in fields.items()]
    sections = {
        "Environment": plain(_environment(finding)),
        "Description": plain(finding.text or _from_page(finding)),
        "How it is noticed": plain(_sentence(page.heads["Noticed by"])),
        "Steps to reproduce": plain(page.sections["Steps"]),
        "Reproduced by": "\n".join(_runs(finding, version, units)),
        "Workaround": plain(_with_below(finding, page.heads["What to do today"])),
        "Known so far": plain(f"Fixed in {page.heads['Fixed in']}"),
        "Fix": plain("\n".join(_fix(finding, version, changed, units))),
    }
    for title, body in sections.items():
        lines += ["", f"## {title}", "", body]
    return "\n".join(lines) + "\n"


def component(finding: Finding) -> str:
    """JIRA's component, by the first class that a fix changes, or that the page names; else core.

    A class is known by the fixes: some fix changes it.
    """
    files = [method.file for fix in finding.fixes.values() for method in fix.methods]
    code = finding.page.sections[CODE]
    every = {PurePath(m.file).stem: m.file for fix in fixes().values() for m in fix.methods}
    files += [every[name] for name in re.findall(r"`(\w+)", code) if name in every]
    return part_of(files[0]).component if files else "core"


def fix_versions(finding: Finding) -> list[str]:
    """Where a fix belongs: trunk, and the next release of the last three lines with the finding."""
    newest: dict[tuple[int, ...], str] = {}
    for version in finding.versions:
        newest[version_of(version)[:2]] = version
    lines = sorted(newest)[-3:]
    found = [_next(newest[line]) for line in reversed(lines)]
    return found if finding.row.span.fixed else ["trunk", *found]


def _next(version: str) -> str:
    line, _, last = version.rpartition(".")
    return f"{line}.{int(last) + 1}"


def _why(finding: Finding) -> str:
    judged = finding.row.judged
    return f"{finding.page.in_short}; likelihood: {judged.likely} ({judged.why})"


def _environment(finding: Finding) -> str:
    return "\n\n".join(filter(None, (finding.page.heads["Affected"], finding.page.more)))


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


CODE = "In Kafka's code"


def _from_page(finding: Finding) -> str:
    """For a finding without a fix: what goes wrong, and the place in the code."""
    return f"{finding.page.effect}\n\n{finding.page.sections[CODE]}"


def _with_below(finding: Finding, words: str) -> str:
    below = finding.page.linked(words)
    return _sentence(words) + (f"\n\n{below}" if below else "")


def _runs(finding: Finding, version: str, units: Mapping[str, Unit]) -> Iterator[str]:
    if units:
        told = "runs the attached unit tests on the published classes of"
        yield f"- `run.sh` {told} {version}, without the patch and with it. Without it these fail:"
    for unit in units.values():
        yield from (f"  - `{unit.name}.{test}`" for test in unit.fails)
    for schedule in map(read_schedule, sorted(FOLDER.glob(f"{finding.number}-*.toml"))):
        command = f"highwater reproduce {finding.number} --schedule {schedule.name}"
        yield f"- `{command}` plays it on a cluster of an unmodified release. {schedule.title}."


def _fix(
    finding: Finding, version: str, changed: Sequence[Changed], units: Mapping[str, Unit]
) -> Iterator[str]:
    if not changed:
        yield f"There is no patch yet.\n\n{finding.page.sections['Fix and risk']}"
        return
    yield f"{_sentence(finding.page.heads['Fix'])}\n"
    yield f"`fix.patch` is against the sources of {version}, and changes:\n"
    yield from (f"- `{main_folder(each.module, each.file)}/{each.file}`" for each in changed)
    yield "\nIn a checkout of that tag, with this folder as DIR (before `git apply` tests fail):\n"
    folders = {name: part_of(name.replace(".", "/")).folder for name in units}
    copied = " ".join(dict.fromkeys(f"DIR/{folder}" for folder in folders.values()))
    yield f"    cp -r {copied} ." if copied else ""
    yield "    git apply DIR/fix.patch"
    for name, folder in folders.items():
        yield f"    ./gradlew :{folder}:test --tests {name}"
