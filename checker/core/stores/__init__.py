"""Whole levels on disk: to resume a search, and to ask questions of its states with SQL."""
