"""Labels in numbers: how far each can be trusted, how often each value is given."""
