"""Asynchronous ISR updates (KIP-497): a protocol of its own."""
