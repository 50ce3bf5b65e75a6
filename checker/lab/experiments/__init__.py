"""Many models at once: stories with expectations, settings against faults, mutants."""
