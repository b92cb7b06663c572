"""Statistics and comparisons of conversations.

Imports no model and no graph.
"""

from .attempts import AttemptRow, attempt_rows, attempt_table
from .drafts import DraftCount, SideDrafts
from .tables import Cell, Column, Table

__all__ = [
    "AttemptRow",
    "Cell",
    "Column",
    "DraftCount",
    "SideDrafts",
    "Table",
    "attempt_rows",
    "attempt_table",
]
