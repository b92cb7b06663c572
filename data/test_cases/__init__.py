"""Test cases of other tools as scenarios, and this project's own lines of scenarios."""

from ..formats.detection import Format
from . import cases, deepeval, mlflow, tau2

FORMS: tuple[Format, ...] = (tau2.FORMAT, deepeval.FORMAT, mlflow.FORMAT)
"""Test cases of other tools, in the order in which they are tried."""
LINES = cases.FORMAT
"""This project's own scenarios, which are tried last: other lines may have a goal too."""
