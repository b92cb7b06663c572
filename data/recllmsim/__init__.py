"""Task-oriented conversations with a profile: the RecLLMSim data sets, task contexts and profiles."""

from .dataset import Variant, in_language, to_object, variant
from .folders import Reading, cluster, read, read_folder, write
from .situations import ATTRIBUTES, KIND, Situation

__all__ = [
    "ATTRIBUTES",
    "KIND",
    "Reading",
    "Situation",
    "Variant",
    "cluster",
    "in_language",
    "read",
    "read_folder",
    "to_object",
    "variant",
    "write",
]
