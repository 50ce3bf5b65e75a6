"""Verdicts as the XML of JUnit, which test servers read: a test case for each property."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

from checker.core.amounts import counted
from checker.core.traces.trace import Trace
from checker.telling.report.text import render_text

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


@dataclass(frozen=True)
class Checked:
    """A property, or `deadlock`: the trace that violates it, or why nothing is known of it."""

    name: str
    trace: Trace | None = None
    open: str = ""


def junit(protocol: str, checked: Iterable[Checked], seconds: float) -> str:
    """One suite. What is violated has failed, with its trace; what is open is skipped."""
    cases = list(checked)
    suite = ElementTree.Element(
        "testsuite", name=f"highwater.{protocol}", tests=str(len(cases)), errors="0",
        failures=str(sum(case.trace is not None for case in cases)),
        skipped=str(sum(case.trace is None and bool(case.open) for case in cases)),
        time=f"{seconds:.3f}",
    )  # fmt: skip
    for case in cases:
        element = ElementTree.SubElement(
            suite, "testcase", classname=protocol, name=case.name, time="0"
        )
        if case.trace is not None:
            said = f"violated after {counted(case.trace.depth, 'step')}: {case.trace.explanation}"
            failure = ElementTree.SubElement(element, "failure", message=_clean(said))
            failure.text = _clean(render_text(case.trace))
        elif case.open:
            ElementTree.SubElement(element, "skipped", message=_clean(case.open))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("?", text)
