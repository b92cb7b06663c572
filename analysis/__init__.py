"""Statistics and comparisons of conversations.

Imports no model and no graph.
"""

from .attempts import DraftCount, SideDrafts
from .tables import Cell, Column, Table

__all__ = ["Cell", "Column", "DraftCount", "SideDrafts", "Table"]
