"""Which known bugs concern a cluster, by its release, its settings and its topics."""
