"""Protocols in test files, as users import it: `from highwater.testing import state_machine`.

Needs Hypothesis, which the extra `test` brings.
"""

from checker.distribution import require
from model.language.errors import UsageError

try:
    require("highwater.testing needs Hypothesis", "hypothesis")
except UsageError as error:
    raise ImportError(str(error)) from None

from checker.api.stateful import PropertyViolationError, state_machine

__all__ = ["PropertyViolationError", "state_machine"]
