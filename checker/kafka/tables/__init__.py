"""Tables of what the models declare, for pages of the documentation."""
