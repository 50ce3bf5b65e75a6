"""Proofs within bounds: induction and bounded checking over cells."""
