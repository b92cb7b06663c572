"""Casts by name, their settings, and a cast as plain data from which another process builds it again.

An installed package adds its casts with the entry point group `duologue.casts`. Example::

    >>> from duologue import casts
    >>> casts.find("simquac")(user="offline").name
    'simquac'
"""

from .cast import CastSpec
from .registry import GROUP, CastFactory, built, find, registered, scenarios_of

__all__ = ["GROUP", "CastFactory", "CastSpec", "built", "find", "registered", "scenarios_of"]
