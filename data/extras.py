"""Packages that an extra brings: asked for where they are used, missed by a line that names the extra."""

from importlib import import_module
from types import ModuleType


class MissingExtraError(ImportError):
    """A package is not installed: one line that says which, and the extra that brings it."""


def of_extra(module: str, extra: str) -> ModuleType:
    """The module, such as `scipy.stats`; MissingExtraError if the extra that brings it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        if error.name is None or error.name.split(".")[0] != package:
            raise
        raise MissingExtraError(f'{package} is not installed: pip install "duologue[{extra}]"', name=package) from None
