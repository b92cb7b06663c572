"""Calls of chat models: what can go wrong, how often they are made, what they cost, and where replies are kept."""
