"""What prevents a trace, in Kafka's words: a release, a configuration, or a fix in no release.

What a rule is called in a model is no setting of Kafka's. The declarations know what it is there.
"""

from __future__ import annotations

from collections.abc import Iterable

from checker.lab.explanations.candidates import Candidate, Kind
from model.language.declare.settings import Role, SettingInfo, describe
from model.language.protocol import Protocol
from model.protocols import releases_with

IN_NO_RELEASE = "in no release"


def fix_words(rules: Iterable[SettingInfo]) -> str:
    """What people know rules by: `the fix of finding 0002`."""
    issues = [rule.source.issues for rule in rules if rule.source is not None]
    return f"the fix of {' and '.join(dict.fromkeys(filter(None, issues)))}"


def remedy_words(candidate: Candidate) -> str:
    """What a change is, as it follows "prevented": `in Kafka since 3.7.0: ...`, `by acks=all`."""
    protocol = candidate.model.protocol
    if candidate.kind is Kind.PROTOCOL:
        return f"by {protocol.name}"
    return " and ".join(_one(protocol, *each) for each in candidate.settings.items())


def _one(protocol: Protocol, name: str, value: str) -> str:
    info = describe(protocol.settings)[name]
    written = info.written_as(value)
    if info.role is Role.OPERATOR:
        return f"by {written}"
    rule = info.rule if value == "true" else written
    releases = releases_with(protocol, name, value)
    if releases:
        return f"in Kafka {releases}: {rule}"
    if info.is_in_no_release and value in ("true", info.mended):
        return f"by {fix_words([info])}, {IN_NO_RELEASE}: {rule}"
    return f"by {written}"
