"""How properties are declared, as users import it: `from highwater.claims import always`."""

from properties.claims import Property, Sense, always, sometimes

__all__ = ["Property", "Sense", "always", "sometimes"]
