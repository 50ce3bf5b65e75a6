"""Refutations that nobody has to believe: clauses, a proof of them, and what checks it."""
