"""The plan of a command, computed and printed before it starts."""
