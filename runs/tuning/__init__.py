"""Tuning a simulator: trials in folders of their own, judged against people."""

from .search import CODEC, FEWEST, PAGES, PARTS, RESULT, TrialWatch, atune, ready, tune

__all__ = ["CODEC", "FEWEST", "PAGES", "PARTS", "RESULT", "TrialWatch", "atune", "ready", "tune"]
