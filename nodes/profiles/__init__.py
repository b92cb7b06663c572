"""The nodes that generate user profiles."""
