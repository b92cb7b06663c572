"""Asking models about many things, with a journal of their answers."""

from .questions import GIVE_UP, A, Asking, ModelAnswer, T

__all__ = ["GIVE_UP", "A", "Asking", "ModelAnswer", "T"]
