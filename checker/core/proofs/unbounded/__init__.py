"""Proofs for all sizes: induction over the captured graph, with its quantifiers."""
