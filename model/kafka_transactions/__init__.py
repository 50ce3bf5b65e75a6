"""Transactions: a producer, its coordinators, the partitions it writes to, what readers see."""
