"""What runs many models side by side: matrices, mutants, cases, explanations, the hunt."""
