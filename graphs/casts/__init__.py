"""Casts by name, their settings, and a cast as plain data from which another process builds it again.

Example::

    >>> from duologue import casts
    >>> casts.find("simquac")(user="offline").name
    'simquac'
"""

from .cast import CastSpec
from .registry import CastFactory, built, find, registered, scenarios_of

__all__ = ["CastFactory", "CastSpec", "built", "find", "registered", "scenarios_of"]
