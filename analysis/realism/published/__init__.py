"""Measures that others publish, by their definitions: the features of 2603.11245, and reactions to two assistants."""
