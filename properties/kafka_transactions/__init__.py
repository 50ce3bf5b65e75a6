"""What transactions promise, and what the model must be able to do."""
