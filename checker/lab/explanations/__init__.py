"""What would have prevented a trace, what caused what on it, and when it was decided."""
