"""Simulated users beside people: next turns, retrieval-based users, validity, profiles."""
