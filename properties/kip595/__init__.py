"""What the core of KRaft claims (KIP-595), and the lemmas that prove it."""
