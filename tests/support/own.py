"""A protocol of one's own, as a file that tests write and change."""

from pathlib import Path

COUNTER = """
from beside import LIMIT
from highwater.claims import always, sometimes
from highwater.language import *

STEPS = Bound("steps", default=LIMIT, minimum=1, words="steps at most")
CLERKS = Bound("clerks", default=2, minimum=1, words="who count")

class Clerk(Entity):
    _label = "c"
    count: Annotated[int, integers(0, STEPS)] = 0

class Office(State):
    clerks: Members[Clerk] = members(CLERKS)

@action("{clerk} counts on")
def count_on(office: Office, clerk: Clerk) -> None:
    require(clerk.count < office.bound(STEPS))
    clerk.count += 1

@always("below_two", "nobody gets to two", failure="{c} counts {c.count}")
def below_two(office: Office) -> bool:
    return every(c.count < 2 for c in office.clerks)

@sometimes("somebody_counts", "a clerk counts")
def somebody_counts(office: Office) -> bool:
    return some(c.count > 0 for c in office.clerks)

COUNTER = Protocol(
    "counter", "clerks count", Office, (count_on,), (STEPS, CLERKS),
    properties=(below_two, somebody_counts),
)
"""


def write_counter(folder: Path, *changes: tuple[str, str], name: str = "counter.py") -> Path:
    """Write the protocol and the module that it imports; `changes` are old texts with new ones."""
    (folder / "beside.py").write_text("LIMIT = 3\n")
    text = COUNTER
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    (folder / name).write_text(text)
    return folder / name
