"""A consumer group: who owns which partition, what is processed, which offsets are committed."""
