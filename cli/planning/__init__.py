"""What a command is about to do, found and said before it does much."""
