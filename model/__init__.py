"""What Kafka does: protocols of its replication, with no knowledge of how they are checked."""
