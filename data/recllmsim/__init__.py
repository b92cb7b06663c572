"""Task-oriented conversations of users with a profile: the RecLLMSim data sets, task contexts and profiles."""

from .dataset import DOMAIN, cluster, read_folder, to_object, variant, write
from .profiles import (
    ATTRIBUTES,
    KIND,
    Coverage,
    Profile,
    Situation,
    coverage,
    facts_of,
    near_duplicate,
    read_pool,
    shipped_profiles,
)
from .tasks import (
    Template,
    chosen,
    combined,
    common_task,
    expand,
    read_tasks,
    shipped_tasks,
    task_name,
)

__all__ = [
    "ATTRIBUTES",
    "DOMAIN",
    "KIND",
    "Coverage",
    "Profile",
    "Situation",
    "Template",
    "chosen",
    "cluster",
    "combined",
    "common_task",
    "coverage",
    "expand",
    "facts_of",
    "near_duplicate",
    "read_folder",
    "read_pool",
    "read_tasks",
    "shipped_profiles",
    "shipped_tasks",
    "task_name",
    "to_object",
    "variant",
    "write",
]
