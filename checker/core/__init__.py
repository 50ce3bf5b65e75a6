"""What checks any protocol: engines, search, liveness, stores, graphs, export, proofs."""
