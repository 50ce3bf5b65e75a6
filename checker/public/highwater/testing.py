"""Protocols in test files, as users import it: `from highwater.testing import state_machine`.

Needs Hypothesis: `pip install 'highwater[test]'`.
"""

try:
    import hypothesis as _hypothesis  # noqa: F401  # it only has to be there
except ImportError:
    raise ImportError("highwater.testing needs Hypothesis: pip install 'highwater[test]'") from None

from checker.api.stateful import PropertyViolationError, state_machine

__all__ = ["PropertyViolationError", "state_machine"]
