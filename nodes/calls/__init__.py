"""Calls of chat models: faults, rates, costs, and the store of replies."""
