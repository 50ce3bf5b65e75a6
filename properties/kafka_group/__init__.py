"""What a consumer group promises, and what it does not."""
