"""What conversations show: statistics and comparisons. Knows no model and no graph."""

from .repairing import RepairQuality, measure_repair
from .validators import ValidatorRow, compare_validators

__all__ = ["RepairQuality", "ValidatorRow", "compare_validators", "measure_repair"]
