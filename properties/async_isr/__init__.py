"""What asynchronous ISR updates claim, their lemmas, and templates to infer them from."""
