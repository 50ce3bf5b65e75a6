"""Breadth-first search, random walks, and what both need: packed states, fingerprints, symmetry."""
