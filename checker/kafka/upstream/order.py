"""In which order the findings are to be offered to Kafka, and JIRA's priority of each.

docs/findings/upstream.md says what is critical, major and minor. 0001 needs no feature, so it comes
first; those of the metadata quorum come after the others of their priority. One that is not named
here has the priority of what it does and of how likely that is.
"""

from __future__ import annotations

from checker.lab.catalogue import Effect, Likely

ORDER = {
    "Critical": (
        "0001", "0004", "0007", "0005", "0014", "0006", "0020", "0011", "0018", "0039",
        "0028", "0033", "0030", "0038", "0023", "0022",
    ),
    "Major": (
        "0002", "0010", "0012", "0015", "0013", "0021", "0003", "0017", "0019", "0009", "0008",
        "0044", "0031", "0041", "0032", "0034", "0036", "0035", "0037", "0043", "0029", "0042",
        "0025", "0026", "0024",
    ),
    "Minor": ("0016", "0027", "0040"),
}  # fmt: skip


def priority(finding: str, effect: Effect, likely: Likely) -> str:
    """JIRA's priority of a finding."""
    for name, findings in ORDER.items():
        if finding in findings:
            return name
    if effect in (Effect.METADATA, Effect.LOST):
        return "Major" if likely is Likely.VERY_RARE else "Critical"
    return "Major" if likely in (Likely.ORDINARY, Likely.OCCASIONAL) else "Minor"


def place(finding: str) -> tuple[int, str]:
    """What findings are sorted by; those that are not named come last."""
    named = [each for findings in ORDER.values() for each in findings]
    return (named.index(finding) if finding in named else len(named), finding)
