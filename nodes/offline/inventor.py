"""The offline inventor of people: a profile of the kinds that are asked for, drawn from lists of values."""

import re
from collections.abc import Mapping, Sequence

from ...data.identity import digest
from ...data.languages import language_of
from ...data.recllmsim import ATTRIBUTES, FIELDS
from .prompt_parser import Prompt
from .words import begin_small, vocabulary


def reply(prompt: Prompt, draw: int, misbehaviour: str = "") -> str:
    """A complete profile; of what the request does not name or is not known any kind will do.

    `incomplete` leaves attributes out, `repeat` is the same person whatever is asked for.
    """
    lacking = prompt.marked("lacking")[:2_000]
    chinese = language_of(lacking) == "zh"
    lists = vocabulary(f"profiles_{'zh' if chinese else 'en'}")
    if misbehaviour == "repeat":
        lacking, draw = "", 0

    def drawn(items: Sequence[str], count: int, what: str) -> list[str]:
        return sorted(items, key=lambda item: digest(draw, what, item))[:count]

    def any_of(kinds: Mapping[str, list[str]], kind: str) -> list[str]:
        return kinds.get(kind) or [value for values in kinds.values() for value in values]

    lines = dict(re.findall(r"^[ \t]*([^:：\s]+)[ \t]*[:：][ \t]*(.*)$", lacking, re.MULTILINE))
    asked = {key: lines.get(label, "").strip() for key, label in lists["labels"].items()}
    ages = re.fullmatch(r"(\d{1,3})-(\d{1,3})", asked["age"])
    first = max(14, int(ages[1])) if ages else 18
    last = max(first, min(88, int(ages[2]))) if ages else 80
    traits = [name for name in re.split(r"\s*[,、]\s*", asked["traits"]) if name in lists["traits"]]
    traits += drawn([name for name in lists["traits"] if name not in traits], max(0, 2 - len(traits)), "traits")
    values = {
        "gender": drawn(any_of(lists["genders"], asked["gender"]), 1, "gender"),
        "age": drawn([str(age) for age in range(first, last + 1)], 1, "age"),
        "personality": [drawn(lists["traits"][name], 1, name)[0] for name in traits],
        "occupation": drawn(any_of(lists["occupations"], asked["occupation"]), 1, "occupation"),
    }
    values |= {key: drawn(items, 3 if key == "daily_interests" else 2, key) for key, items in lists["lists"].items()}
    for key in drawn(FIELDS, 1 + draw % 3, "left out") if misbehaviour == "incomplete" else []:
        del values[key]
    texts = {key: lists["between"].join(map(begin_small, values.get(key, []))) for key in FIELDS}
    return "\n".join(
        f"{number}. {ATTRIBUTES[key][chinese]}{lists['colon']}{text[:1].upper()}{text[1:]}"
        for number, (key, text) in enumerate(texts.items(), start=1)
        if text
    )
