"""A run of a command: begun, shown, interrupted, ended."""
