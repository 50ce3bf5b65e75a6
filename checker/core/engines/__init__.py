"""Interpreters of captured actions, named by role: reference, vectorised, symbolic."""
