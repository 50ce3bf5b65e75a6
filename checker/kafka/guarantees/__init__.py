"""What a cluster's configuration guarantees under some faults, and what would change that."""
