"""Journals: files of JSON lines that only grow, of which every line is whole."""
