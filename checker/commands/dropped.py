"""Where what a signal's handler raises would get lost, so that handlers wait for another place.

Python cleans up for objects and for itself in functions that C calls; it drops what they raise, or
makes another error of it.
"""

from __future__ import annotations

import gc
from types import FrameType

_CALLED_BY_C = frozenset({"__del__", "from_param"})
"""Names of such functions; Z3 has both."""


def is_dropped_in(frame: FrameType | None) -> bool:
    """What is raised there is dropped, or does not arrive as what it is."""
    of_collections = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    while frame is not None:
        code = frame.f_code
        if code.co_name in _CALLED_BY_C or "weakref" in code.co_filename or code in of_collections:
            return True
        frame = frame.f_back
    return False
