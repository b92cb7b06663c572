"""Many conversations at once: concurrency, resuming, the run folder with its manifest and data set."""

from ..graphs.scenarios.sources import chosen, repeated
from . import profiles
from .annotate import Annotations, aannotate, annotate
from .engine.conduct import Conduct, recorded_calls
from .engine.control import Control
from .engine.conversing import converse, converse_all, planned
from .engine.event_loop import blocking
from .folder.run_folder import RunFolder, new_folder
from .folder.summary import Summary
from .journals.call_differences import ReplayError
from .journals.calls import CallFile
from .journals.journal import Journal, RunError
from .parts import put_together
from .running import arun
from .simulation import asimulate, simulate

__all__ = [
    "Annotations",
    "CallFile",
    "Conduct",
    "Control",
    "Journal",
    "ReplayError",
    "RunError",
    "RunFolder",
    "Summary",
    "aannotate",
    "annotate",
    "arun",
    "asimulate",
    "blocking",
    "chosen",
    "converse",
    "converse_all",
    "new_folder",
    "planned",
    "profiles",
    "put_together",
    "recorded_calls",
    "repeated",
    "simulate",
]
