"""Casts by name, their settings, and a cast as plain data from which another process builds it again.

An installed package adds its casts with the entry point group `duologue.casts`; any other function that returns a cast is
named by its import path: `casts.find("desk:cast")`.
"""

from .cast import CastSpec
from .registry import GROUP, CastFactory, built, find, registered, scenarios_of

__all__ = ["GROUP", "CastFactory", "CastSpec", "built", "find", "registered", "scenarios_of"]
