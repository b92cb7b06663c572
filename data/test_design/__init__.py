"""Scenarios designed from tools, rules as data, and examples of a world."""
