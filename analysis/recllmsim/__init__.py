"""Task-oriented conversations in numbers: the published tables, predictions from words, judges of satisfaction."""

from .tables import TABLES, recllmsim_tables
from .talks import TablesReport, Talk, Talks

__all__ = ["TABLES", "TablesReport", "Talk", "Talks", "recllmsim_tables"]
