"""Former names of modules, functions and classes: they stay importable, and what was stored under them is found.

`import duologue.nodes.judges` answers with the module of today and a DeprecationWarning that names it, and so does
`from duologue.analysis.agreement.intervals import estimate` with a function. `former_names.txt` holds both tables. A
manifest, a cast as plain data or a spec may hold an import path into the package, such as
`duologue.nodes.planted:good`. `current` resolves it, and `stored` writes it as it always was, so that runs of an
earlier version go on.
"""

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = __name__.partition(".")[0]
SILENT = frozenset({"data.votes"})
"""Former modules that stay without a warning: others' code is promised them."""


@cache
def rows() -> Mapping[str, str]:
    """Former modules, and former names as `module:name`, with those of today; all below the package."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    return dict(line.split() for line in text.splitlines() if line and not line.startswith("#"))


@cache
def _modules() -> Mapping[str, str]:
    return {former: now for former, now in rows().items() if ":" not in former}


@cache
def _stored() -> Mapping[str, str]:
    return {now: former for former, now in _modules().items()}


@cache
def _names() -> Mapping[str, str]:
    """Former names by the module that answers them today."""
    pairs = ((former.partition(":"), now) for former, now in rows().items() if ":" in former)
    return {f"{_answering_module(module)}:{name}": now for (module, _, name), now in pairs}


@cache
def _answering_modules() -> frozenset[str]:
    """Modules that answer former names: their own, those of a module with their name, modules that lay in them."""
    parents = (former.removesuffix(".*").rpartition(".")[0] for former in _modules())
    taken = (former for former, now in _modules().items() if now.startswith(f"{former}."))
    return frozenset([*(key.partition(":")[0] for key in _names()), *map(_answering_module, parents), *taken])


def current(path: str) -> str:
    """An import path `module:name`, or a module's name, with the name that the module has today."""
    return _renamed(path, _modules())


def stored(path: str) -> str:
    """An import path as manifests have always held it: with the name that its module had first."""
    return _renamed(path, _stored())


def _renamed(path: str, names: Mapping[str, str]) -> str:
    module, colon, name = path.partition(":")
    package, _, below = module.partition(".")
    return f"{PACKAGE}.{_name(below, names)}{colon}{name}" if package == PACKAGE and below else path


def _name(module: str, names: Mapping[str, str]) -> str:
    """The other name of a module below the package; its own if it has no other."""
    if module in names:
        return names[module]
    parts = module.split(".")
    for end in range(len(parts), 0, -1):
        if package := names.get(f"{'.'.join(parts[:end])}.*"):
            return ".".join([package.removesuffix(".*"), *parts[end:]])
    return module


def _answering_module(module: str) -> str:
    """The module of today that a former module's name leads to: a package may have taken the name."""
    now = _name(module, _modules())
    return module if now.startswith(f"{module}.") else now


def _answering(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that answers former names, with a DeprecationWarning."""
    below = module.partition(".")[2]

    def answered(name: str) -> Any:
        home, _, now = _names().get(f"{below}:{name}", "").partition(":")
        if not home and not name.startswith("_"):
            if _answering_module(f"{below}.{name}") != f"{below}.{name}":  # a module that this package held
                return import_module(f"{module}.{name}")
            if (whole := _modules().get(below, "")).startswith(f"{below}."):
                home, now = whole, name
        if not home or now not in vars(owner := import_module(f"{PACKAGE}.{home}")):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(f"{module}.{name} is now {PACKAGE}.{home}.{now}", DeprecationWarning, stacklevel=2)
        return vars(owner)[now]

    return answered


class _AnsweringLoader(Loader):
    """Loads a module as its own loader does, and has it answer former names."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        vars(module)["__getattr__"] = _answering(module.__name__)


class _FormerNames(MetaPathFinder, Loader):
    """Answers an import of a former name with the module of today: the same object, not a second one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, below = fullname.partition(".")
        if package != PACKAGE:
            return None
        if _answering_module(below) != below:
            return spec_from_loader(fullname, self)
        if below not in _answering_modules():
            return None
        others = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((spec for spec in others if spec is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _AnsweringLoader(spec.loader)
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        now = current(spec.name)
        if spec.name.partition(".")[2] not in SILENT:
            warnings.warn(f"{spec.name} is now {now}", DeprecationWarning, stacklevel=2)
        module = import_module(now)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:  # importlib has put its own there
            module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """Have former names answered in this process; a second call changes nothing."""
    if not any(isinstance(finder, _FormerNames) for finder in sys.meta_path):
        # First: a former package's submodules would otherwise be found beside the package of today, and loaded twice.
        sys.meta_path.insert(0, _FormerNames())
