"""Task-oriented conversations of users with a profile: the RecLLMSim data sets, task contexts and profiles."""

from .contexts import Template, expand
from .dataset import Variant, in_language, to_object, variant
from .domain import DOMAIN
from .folders import FolderReading, cluster, oddities, read, read_folder, write
from .pool_coverage import Coverage, coverage, near_duplicate, similarity
from .profiles import FIELDS, Pool, Profile, pool_text, read_pool, sampled, shipped_profiles
from .selection import chosen, combined
from .situations import ATTRIBUTES, KIND, Situation
from .task_names import TaskName, common_task, task_name
from .tasks import chosen_tasks, read_tasks, read_templates, shipped_tasks

__all__ = [
    "ATTRIBUTES",
    "DOMAIN",
    "FIELDS",
    "KIND",
    "Coverage",
    "FolderReading",
    "Pool",
    "Profile",
    "Situation",
    "TaskName",
    "Template",
    "Variant",
    "chosen",
    "chosen_tasks",
    "cluster",
    "combined",
    "common_task",
    "coverage",
    "expand",
    "in_language",
    "near_duplicate",
    "oddities",
    "pool_text",
    "read",
    "read_folder",
    "read_pool",
    "read_tasks",
    "read_templates",
    "sampled",
    "shipped_profiles",
    "shipped_tasks",
    "similarity",
    "task_name",
    "to_object",
    "variant",
    "write",
]
