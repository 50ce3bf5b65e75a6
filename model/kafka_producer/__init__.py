"""Kafka's producer: what it batches, sends and retries, and what brokers append and answer."""
