"""KIP-595's core, small enough to be proved for any number of voters."""
