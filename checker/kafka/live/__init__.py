"""A cluster that runs: what it tells an admin client, and what that means."""
