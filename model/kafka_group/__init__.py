"""A consumer group: who owns which partition, what is processed, and which offsets are committed."""
