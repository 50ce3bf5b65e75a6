"""What a task that consumes, processes and produces promises: exactly once."""
