"""What brokers left on their disks: read, compared and judged; nothing is written there."""
