"""Scenarios designed from tools, rules and dimensions: covering arrays, kinds of arguments, goals in plain sentences."""
