"""Many conversations at once: concurrency, resuming, the run folder with its manifest and data set."""

from . import profiles
from .appending import RunError
from .engine import CONCURRENCY, converse, converse_all
from .folder import RunFolder, new_folder
from .plan import chosen, planned, repeated
from .simulating import Summary, arun, asimulate, blocking, simulate

__all__ = [
    "CONCURRENCY",
    "RunError",
    "RunFolder",
    "Summary",
    "arun",
    "asimulate",
    "blocking",
    "chosen",
    "converse",
    "converse_all",
    "new_folder",
    "planned",
    "profiles",
    "repeated",
    "simulate",
]
