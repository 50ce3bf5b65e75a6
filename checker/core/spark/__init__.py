"""The search on Spark: what runs in its workers, how work is shipped there, and the session."""
