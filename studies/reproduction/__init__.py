"""Figures of README and the pages, each with the measurement that gives it again: `duologue reproduce NAME`."""
