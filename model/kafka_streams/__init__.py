"""Consume, process, produce: an input partition, its owners, their transactions and offsets."""
