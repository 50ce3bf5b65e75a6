"""KRaft: the controllers' own Raft, by which Kafka's metadata log is replicated."""
