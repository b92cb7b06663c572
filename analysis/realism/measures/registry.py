"""The registry of measures that are not shipped: from installed packages, and registered in a notebook.

A package declares a measure as an entry point of the group `duologue.measures`, whose object is a `Measure`:

    [project.entry-points."duologue.measures"]
    one_word = "one_word:ONE_WORD"
"""

from threading import RLock

from ....data.packages import register_declared
from ....errors import SettingError
from .measure import Measure
from .shipped import MEASURES

GROUP = "duologue.measures"
"""Entry points of installed packages."""

_lock = RLock()
_measures: dict[str, Measure] = {}
_packages_loaded = False
"""Whether the measures of installed packages were registered."""


def register(measure: Measure, *, replace: bool = False) -> Measure:
    """Register a measure for `compare`, and return it; `replace` replaces one of yours of the same name.

    SettingError if the object is not a measure, or if its name is taken.

    Example::

        >>> from duologue.analysis import realism
        >>> long_words = realism.Measure(
        ...     name="long words",
        ...     definition="Words of ten letters or more.",
        ...     unit="words",
        ...     of_conversation=lambda user: sum(len(word) >= 10 for word in user.all_words),
        ... )
        >>> realism.register_measure(long_words, replace=True).name
        'long words'
    """
    with _lock:
        _ask_packages()
        _register(measure, replace)
        return measure


def registered() -> tuple[Measure, ...]:
    """The measures that are not shipped, in the order in which they were registered."""
    with _lock:
        _ask_packages()
        return tuple(_measures.values())


def all_measures() -> tuple[Measure, ...]:
    """Every measure that needs no annotation: the shipped ones, then the others."""
    return (*MEASURES, *registered())


def _ask_packages() -> None:
    global _packages_loaded
    if not _packages_loaded:
        _packages_loaded = True  # set first: a package may call register while it is imported
        register_declared(GROUP, "measure", lambda measure: _register(measure, replace=False))


def _register(measure: object, replace: bool) -> None:
    if not isinstance(measure, Measure):
        raise SettingError(f"{measure!r} is not a measure: give realism.Measure(name=..., definition=..., unit=...)")
    for field in ("name", "definition", "unit", "source", "direction"):
        if not isinstance(text := getattr(measure, field), str) or not text.strip():
            raise SettingError(f"the measure {measure.name!r} has no {field}: give it a text")
    if any(measure.name == shipped.name for shipped in MEASURES):
        raise SettingError(f"there is a shipped measure {measure.name!r}: give yours another name")
    if not replace and _measures.get(measure.name, measure) is not measure:
        raise SettingError(f"there is a measure {measure.name!r} already: give replace=True, or another name")
    _measures[measure.name] = measure
