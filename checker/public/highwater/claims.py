"""How properties are declared, as users import it: `from highwater.claims import always`."""

from properties.claims import Property, Sense, always, sometimes
from properties.templates import Family, Templates

__all__ = ["Family", "Property", "Sense", "Templates", "always", "sometimes"]
