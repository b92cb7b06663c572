"""The offline inventor of people: a profile of the kinds that are asked for, drawn from lists of values."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ....data.identity import digest
from ....data.recllmsim import ATTRIBUTES, FIELDS
from ....data.text.languages import Language
from .voices import capital


@lru_cache(maxsize=2)
def _lists(language: Language) -> Mapping[str, Any]:
    file = files("duologue.nodes.models.offline").joinpath(f"people_{language}.json")
    lists: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return lists


def profile(lacking: str, language: Language, draw: int, misbehaviour: str = "") -> str:
    """A complete profile; of what `lacking` does not name or is not known any kind will do.

    `misbehaviour`: `incomplete` leaves attributes out, `repeat` is the same whatever is asked for, `reasoning`
    shows its thoughts first.
    """
    if misbehaviour == "repeat":
        lacking, draw = "", 0
    lists = _lists(language)
    asked = {name: _asked(lacking, label) for name, label in lists["labels"].items()}
    begin, _, end = asked["age"].partition("-")
    first, last = (int(begin), int(end)) if begin.isdigit() and end.isdigit() else (18, 80)
    first, last = max(first, 14), max(first, 14, min(last, 88))
    groups = [part.strip() for part in re.split("[,、]", asked["traits"])]
    known = [group for group in groups if group in lists["traits"]]
    more = [group for group in lists["traits"] if group not in known]
    wanted = [*known, *_drawn(more, max(0, 2 - len(known)), draw, "groups")]
    values = {
        "gender": lists["genders"].get(asked["gender"])
        or _drawn(list(lists["genders"].values()), 1, draw, "gender")[0],
        "age": str(first + _number(draw, "age") % (last - first + 1)),
        "personality": _joined([_drawn(lists["traits"][group], 1, draw, group)[0] for group in wanted], lists),
        "occupation": _drawn(_occupations(asked["occupation"], lists), 1, draw, "occupation")[0],
    }
    for key, of_key in lists["lists"].items():
        values[key] = _joined(_drawn(of_key, 3 if key == "daily_interests" else 2, draw, key), lists)
    left_out = _drawn([*FIELDS], 1 + draw % 3, draw, "left out") if misbehaviour == "incomplete" else []
    text = "\n".join(
        f"{number}. {ATTRIBUTES[key][language == 'zh']}{lists['colon']}{values[key]}"
        for number, key in enumerate(FIELDS, start=1)
        if key not in left_out
    )
    return f"<think>{lists['thinking']}</think>\n{text}" if misbehaviour == "reasoning" else text


def _asked(lacking: str, label: str) -> str:
    line = re.search(rf"^[ \t]*{label}[ \t]*[:：][ \t]*(.*)$", lacking[:2_000], re.MULTILINE)
    return line.group(1).strip() if line else ""


def _occupations(asked: str, lists: Mapping[str, Any]) -> Sequence[str]:
    every: Mapping[str, Sequence[str]] = lists["occupations"]
    return every.get(asked) or [one for group in every.values() for one in group]


def _drawn(items: Sequence[str], count: int, draw: int, what: str) -> list[str]:
    """So many different items, decided by the draw alone."""
    return sorted(items, key=lambda item: digest(draw, what, item))[:count]


def _number(draw: int, what: str) -> int:
    return int(digest(draw, what)[:8], 16)


def _joined(values: Sequence[str], lists: Mapping[str, Any]) -> str:
    """The values as a line has them: a capital at the beginning only."""
    small = [value if value[1:2].isupper() else value[:1].lower() + value[1:] for value in values]
    return capital(str(lists["between"]).join(small))
