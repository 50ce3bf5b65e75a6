"""How a protocol declares its state: domains, records, containers, settings, their schema."""
