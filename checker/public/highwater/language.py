"""The modelling language, as users import it: `from highwater.language import ...`."""

from model.language import *  # noqa: F403 (that is what this module is for)
