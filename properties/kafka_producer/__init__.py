"""What producers are promised."""
