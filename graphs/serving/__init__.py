"""Graphs for a LangGraph server and for Studio."""
