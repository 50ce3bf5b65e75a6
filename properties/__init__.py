"""What must hold: named claims about the protocols, each with something that breaks it."""
