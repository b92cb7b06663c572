"""A run divided among processes, of this machine or of a Ray cluster."""
