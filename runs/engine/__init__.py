"""The engine: many conversations at once, in bounds, and how far they are."""
