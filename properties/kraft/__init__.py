"""What must hold of a KRaft quorum."""
