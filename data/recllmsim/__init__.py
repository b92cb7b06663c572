"""Task-oriented conversations with a profile: the RecLLMSim data sets, task contexts and profiles."""

from .choosing import chosen, combined
from .dataset import Variant, in_language, to_object, variant
from .folders import Reading, cluster, read, read_folder, write
from .naming import TaskName, task_name
from .situations import ATTRIBUTES, KIND, Situation

__all__ = [
    "ATTRIBUTES",
    "KIND",
    "Reading",
    "Situation",
    "TaskName",
    "Variant",
    "chosen",
    "cluster",
    "combined",
    "in_language",
    "read",
    "read_folder",
    "task_name",
    "to_object",
    "variant",
    "write",
]
