"""The forms of scenarios that are read, in the order in which they are tried."""

from ..formats.detection import Format
from . import deepeval, mlflow, scenario_lines, tau2

FORMS: tuple[Format, ...] = (
    tau2.FORMAT,
    deepeval.FORMAT,
    mlflow.FORMAT,
)
"""Test cases of other tools."""

LINES = scenario_lines.FORMAT
"""This project's own scenarios, which are tried last: other lines may have a goal too."""
