"""Runs as people and programs read them: replayed, stored, named, and kept as cases."""
