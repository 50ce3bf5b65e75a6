"""How properties are declared, as users import it: `from highwater.claims import always`.

What must happen in the end is declared here too; which actions are fair, with `weak` and `strong`
of `highwater.language`.
"""

from properties.claims import Property, Sense, always, sometimes
from properties.liveness import (
    Kind,
    Liveness,
    always_eventually,
    eventually,
    eventually_always,
    leads_to,
)
from properties.templates import Family, Templates

__all__ = [
    "Family",
    "Kind",
    "Liveness",
    "Property",
    "Sense",
    "Templates",
    "always",
    "always_eventually",
    "eventually",
    "eventually_always",
    "leads_to",
    "sometimes",
]
