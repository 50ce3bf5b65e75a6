"""The protocols, one module each; a module holds the rule in which it differs from another."""
