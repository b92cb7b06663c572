"""Faults of an agent, by rules over its replies and tool calls: what `user_faults` is for users."""
