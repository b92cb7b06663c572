"""Options that several commands share, and options made from pydantic models."""
