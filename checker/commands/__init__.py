"""The commands of `highwater`, one module each."""
