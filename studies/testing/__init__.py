"""What a test of an agent begins with, and advice on its result."""
