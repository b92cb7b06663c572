"""Many conversations at once: what is missing of a run is simulated, into a folder where it goes on, and nothing is paid twice."""

from ..graphs.scenarios.sources import chosen, repeated
from . import profiles
from .annotate import Annotations, aannotate, annotate
from .dataset import write_dataset
from .engine import blocking, planned
from .settings import RunSettings
from .simulate import Run, arun, asimulate, simulate
from .store import RunError, new_folder, put_together

__all__ = [
    "Annotations",
    "Run",
    "RunError",
    "RunSettings",
    "aannotate",
    "annotate",
    "arun",
    "asimulate",
    "blocking",
    "chosen",
    "new_folder",
    "planned",
    "profiles",
    "put_together",
    "repeated",
    "simulate",
    "write_dataset",
]
