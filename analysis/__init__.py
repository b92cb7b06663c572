"""What conversations show: statistics and comparisons. Knows no model and no graph."""

from .attempts import AttemptRow, attempt_rows, attempt_table
from .comparison import Comparison, compare_means, comparison_table
from .repair import RepairQuality, measure_repair
from .tables import Cell, Column, Table
from .validators import ValidatorRow, compare_validators

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
