"""Statistics and comparisons of conversations.

Imports no model and no graph.
"""

from .attempts import AttemptRow, attempt_rows, attempt_table
from .over_users.comparison import Comparison, compare_means, comparison_table
from .simquac.repair_quality import RepairQuality, measure_repair
from .simquac.validators import ValidatorRow, compare_validators
from .tables import Cell, Column, Table

__all__ = [
    "AttemptRow",
    "Cell",
    "Column",
    "Comparison",
    "RepairQuality",
    "Table",
    "ValidatorRow",
    "attempt_rows",
    "attempt_table",
    "compare_means",
    "compare_validators",
    "comparison_table",
    "measure_repair",
]
