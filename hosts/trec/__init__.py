"""TREC's user simulation track: our user as a participant, and a platform for those who give such a track."""

from .playing import aplay, play
from .protocol import Platform
from .report import TrackReport

__all__ = ["Platform", "TrackReport", "aplay", "play"]
