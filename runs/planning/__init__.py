"""What a command would ask models, and about how much that takes, before the first call."""
