"""Scenarios designed from what one has: tools, rules, dimensions and logs, each proven as far as it can be."""
