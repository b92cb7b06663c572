"""A conversation as a graph: its topology, its steps, its trace and its record."""
