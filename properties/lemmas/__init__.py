"""Lemmas, by protocol: claims that proofs need, in the modelling language like any property."""
