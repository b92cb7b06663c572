"""The folder of a run: manifest, conversations, failures, data set, card."""

from .run_folder import RunFolder, free_name, keep_broken, new_folder

__all__ = ["RunFolder", "free_name", "keep_broken", "new_folder"]
