"""Generators of drafts: chat models, agents, functions, stored conversations."""
