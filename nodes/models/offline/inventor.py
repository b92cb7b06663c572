"""The offline inventor of profiles: combines values of the requested kinds from word lists."""

import re
from collections.abc import Sequence

from ....data.identity import digest
from ....data.recllmsim import ATTRIBUTES, FIELDS
from ....data.text.languages import language_of
from .prompt_parser import ParsedPrompt
from .word_weights import vocabulary


def reply(prompt: ParsedPrompt, draw: int, misbehaviour: str = "") -> str:
    """A complete profile.

    Misbehaviours: `incomplete` leaves attributes out, `repeat` ignores the request.
    """
    request = prompt.marked("lacking")[:2_000]
    chinese = language_of(request) == "zh"
    lists = vocabulary(f"profiles_{'zh' if chinese else 'en'}")
    if misbehaviour == "repeat":
        request, draw = "", 0

    def drawn(items: Sequence[str], count: int, what: str) -> list[str]:
        return sorted(items, key=lambda item: digest(draw, what, item))[: max(0, count)]

    lines = dict(re.findall(r"^[ \t]*([^:：\s]+)[ \t]*[:：][ \t]*(.*)$", request, re.MULTILINE))
    requested = {key: lines.get(label, "").strip() for key, label in lists["labels"].items()}
    ages = re.fullmatch(r"(\d{1,3})-(\d{1,3})", requested["age"])
    first = max(14, int(ages[1])) if ages else 18
    last = max(first, min(88, int(ages[2]))) if ages else 80
    values = {"age": [str(first + int(digest(draw, "age")[:8], 16) % (last - first + 1))]}
    for key, kinds in lists["kinds"].items():
        names = [name for name in re.split("[,、] ?", requested[key]) if name in kinds]
        others = [name for name in kinds if name not in names]
        names += drawn(others, (2 if key == "personality" else 1) - len(names), key)
        values[key] = [drawn(kinds[name], 1, name)[0] for name in names]
    values |= {key: drawn(items, 3 if key == "daily_interests" else 2, key) for key, items in lists["lists"].items()}
    for key in drawn(FIELDS, 1 + draw % 3, "left out") if misbehaviour == "incomplete" else []:
        del values[key]
    text = ""
    for number, key in enumerate(FIELDS, start=1):
        if joined := lists["between"].join(values.get(key, [])):
            text += f"{number}. {ATTRIBUTES[key][chinese]}{lists['colon']}{joined[:1].upper()}{joined[1:]}\n"
    return text.strip()
