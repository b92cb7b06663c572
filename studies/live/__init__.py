"""A run's page while it grows, served by a process of its own that only reads the run folder."""
