"""Advice on the result of a test of an agent."""
