"""The small language that protocols are written in: domains, expressions, actions."""
