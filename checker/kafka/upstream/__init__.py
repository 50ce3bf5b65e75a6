"""What a Kafka committer attaches to a ticket: text, patch and tests, from what is declared."""
