"""What commands print with `--json`, as types."""
