"""What every command prints with `--json`: the types of its one object, and their schema.

`output.schema.json` is stored for readers and validators. A test holds that it is what follows
from the declarations; `python -m checker.commands.outputs` prints that.
"""

from __future__ import annotations

from checker.commands.outputs.agents import Mcp
from checker.commands.outputs.clusters import AskCluster
from checker.commands.outputs.common import Error
from checker.commands.outputs.graphs import (
    Certify,
    Export,
    Graph,
    GraphSeen,
    GraphTraceState,
    GraphWritten,
    List,
    ListOfBugs,
    Query,
)
from checker.commands.outputs.kafka import (
    Affected,
    Ask,
    AskApplication,
    AskControllers,
    Audit,
    Cases,
    Conform,
    Reproduce,
    Upstream,
    UpstreamList,
)
from checker.commands.outputs.proofs import Infer, KnownCase, Mutate, MutateStored, Prove
from checker.commands.outputs.searches import (
    Explore,
    Growth,
    GrowthSearch,
    Hunt,
    HuntError,
    Liveness,
    Matrix,
    PropertyVerdict,
    Simulate,
)
from checker.commands.outputs.shapes import JSON, definitions_of
from checker.commands.outputs.traces import (
    Browse,
    Explain,
    Replay,
    Replays,
    Report,
    Reports,
    Scenario,
)

OUTPUTS = (
    List,
    ListOfBugs,
    Mcp,
    Ask,
    AskCluster,
    AskApplication,
    AskControllers,
    Affected,
    Explore,
    Liveness,
    Graph,
    GraphWritten,
    Export,
    Growth,
    Simulate,
    Hunt,
    Prove,
    Infer,
    Mutate,
    MutateStored,
    Matrix,
    Scenario,
    Reproduce,
    Upstream,
    UpstreamList,
    Conform,
    Cases,
    Browse,
    Replay,
    Replays,
    Explain,
    Report,
    Reports,
    Query,
    Certify,
    Audit,
    Error,
)
"""What a command may print: `Error` is for all of them."""

OPEN_ENDED = (
    KnownCase,
    PropertyVerdict,
    GraphSeen,
    GraphTraceState,
    GraphWritten,
    GrowthSearch,
    HuntError,
    Reproduce,
)
"""What may have more keys than are declared."""


def schema() -> JSON:
    """The JSON schema of all that is printed."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "What the commands of Highwater print with --json: one object",
        "type": "object",
        "required": ["command"],
        "anyOf": [{"$ref": f"#/definitions/{output.__name__}"} for output in OUTPUTS],
        "definitions": definitions_of(OUTPUTS, OPEN_ENDED),
    }
