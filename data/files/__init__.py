"""Files on disk: JSON and JSON lines, tables, settings, journals; strict reading, atomic writing."""
