"""A state space to walk in, on the reference engine: a local web page."""
