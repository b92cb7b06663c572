"""JSON, JSON lines and YAML on disk: strict and bounded reading, atomic writing, journals, byte-true edits."""
