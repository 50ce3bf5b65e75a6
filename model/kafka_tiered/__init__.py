"""A partition whose closed segments go to a remote store: copies, reads, deletions, rebuilding."""
