"""What the ladder claims, the lemmas that prove it, and templates to infer them from."""
