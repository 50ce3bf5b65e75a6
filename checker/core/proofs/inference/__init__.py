"""Lemmas found by machine: from templates to an inductive set of clauses."""
