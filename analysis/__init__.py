"""Statistics and comparisons of conversations.

Imports no model and no graph.
"""

from .attempts import AttemptRow, attempt_rows, attempt_table
from .drafts import DraftCount, SideDrafts
from .over_users.comparison import Comparison, compare_means, comparison_table
from .simquac.validators import ValidatorRow, compare_validators
from .tables import Cell, Column, Table

__all__ = [
    "AttemptRow",
    "Cell",
    "Column",
    "Comparison",
    "DraftCount",
    "SideDrafts",
    "Table",
    "ValidatorRow",
    "attempt_rows",
    "attempt_table",
    "compare_means",
    "compare_validators",
    "comparison_table",
]
