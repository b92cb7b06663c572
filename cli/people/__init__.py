"""Commands that compare simulated users with people: `compare`, `next-turn` and `validity`."""
