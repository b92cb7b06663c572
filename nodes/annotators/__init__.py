"""Annotators, which label conversations."""
