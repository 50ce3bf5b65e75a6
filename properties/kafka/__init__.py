"""What the broker model promises, what it does not, and the lemmas that prove it."""
