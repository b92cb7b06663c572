"""Task-oriented conversations in numbers: the published tables, predictions from words, judges of satisfaction."""

from .tables import TABLES, recllmsim_tables
from .talks import Talk, Talks

__all__ = ["TABLES", "Talk", "Talks", "recllmsim_tables"]
