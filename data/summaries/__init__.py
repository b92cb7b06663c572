"""Conversations in figures: counts, outlines, and the graph that ran."""
