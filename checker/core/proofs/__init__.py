"""Proof with Z3: induction and bounded checking within bounds, proof for all sizes, inference."""
