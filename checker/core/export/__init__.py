"""A model as a specification for another model checker: Promela for Spin, TLA+ for TLC."""
