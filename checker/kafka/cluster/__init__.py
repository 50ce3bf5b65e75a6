"""Findings on a cluster of real processes: schedules, a proxy in between, a careful verdict."""
