"""Where what a signal's handler raises would get lost, so that handlers wait for another place.

Python cleans up for objects and for itself in functions that C calls; it drops what they raise, or
makes another error of it. A profile function, as capture has one, is also called as a generator is
closed that nobody has any more. Z3 drops what is raised while it looks for its library, and
complains of an object that was only half made.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from types import CodeType, FrameType

_CALLED_BY_C = frozenset({"__del__", "from_param"})
"""Names of such functions; Z3 has both."""
_OF_Z3 = frozenset({"<module>", "__init__"})


def codes(frame: FrameType | None) -> Iterator[CodeType]:
    """What runs in a frame, what has called that, and so on."""
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back


def is_dropped_in(frame: FrameType | None) -> bool:
    """What is raised there is dropped, or does not arrive as what it is."""
    called = [getattr(each, "__code__", None) for each in (*gc.callbacks, sys.getprofile())]
    return any(
        code.co_name in _CALLED_BY_C
        or (code.co_name in _OF_Z3 and os.path.basename(os.path.dirname(code.co_filename)) == "z3")
        or "weakref" in code.co_filename
        or code in called
        for code in codes(frame)
    )
