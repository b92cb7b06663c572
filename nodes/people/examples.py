"""Turns of people as few-shot examples for a model: their selection and their text."""

from collections.abc import Iterable, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any

from ...prompts import Library
from ..messages.building import fenced
from .choice import TRIED, ChoiceWeights, PeopleMoment, in_order, is_new, scores_of
from .likeness import alike
from .memory import NEARLY, Memory
from .names import is_personal
from .turns import PeopleTurn, SourceConversation

MOST_SAID = 600
"""Maximum characters of a person's turn in an example."""

MOST_HEARD = 300
"""Maximum characters of the reply before it: half from its beginning, half from its end, where questions stand."""

_LEFT_OUT = " […] "


def nearest(
    memory: Memory, moment: PeopleMoment, allowed: Sequence[bool], weights: ChoiceWeights, count: int
) -> list[int]:
    """The numbers of the turns that fit best here, at most `count`, no two nearly the same.

    They are of different people where there are as many, else of different conversations. Which of those that fit about
    as well come first is a draw, as for a turn that is said again.
    """
    scores = scores_of(memory, moment, weights)
    numbers = [
        number
        for number, ok in enumerate(allowed)
        if ok and is_new(memory, number, moment) and memory.turns[number].text.strip()
    ]
    ranked = list(islice(in_order(numbers, scores, None, moment.draw, weights.spread), TRIED))
    picked: list[int] = []
    for whose in (attrgetter("user"), attrgetter("id")):
        taken = {whose(_donor(memory, number)) for number in picked}
        for number in ranked:
            if len(picked) == count:
                return picked
            key = whose(_donor(memory, number))
            if number in picked or key in taken or _told_already(memory, number, picked):
                continue
            picked.append(number)
            taken.add(key)
    return picked


def _donor(memory: Memory, number: int) -> SourceConversation:
    return memory.donors[memory.turns[number].donor]


def _told_already(memory: Memory, number: int, picked: Sequence[int]) -> bool:
    """Whether a turn says nearly what one of these says."""
    if any(not memory.keys[number].isdisjoint(memory.keys[other]) for other in picked):
        return True
    own: Any = memory.rows["theme"]
    return bool(picked) and bool((alike(own[list(picked)], own[[number]]) >= NEARLY).any())


def examples_page(pages: Library, turns: Iterable[PeopleTurn], marks: Sequence[str], *, private: bool) -> str:
    """The page with the turns as examples, each between marks that its own text cannot hold.

    `marks`: the marks of the conversation's material, which no example may imitate. `private`: leave out a reply before
    a turn if it holds a name, a number or an address by rule.
    """
    examples = "\n".join(_example(pages, turn, marks, private) for turn in turns)
    return pages["like/examples"].fill(examples=examples)


def _example(pages: Library, turn: PeopleTurn, marks: Sequence[str], private: bool) -> str:
    heard = "\n".join(message.text for message in turn.heard).strip()
    values = {"said": shortened(turn.text, MOST_SAID, ends=False)}
    if heard and not (private and is_personal(heard)):
        values["heard"] = shortened(heard, MOST_HEARD, ends=True)
    page = pages["like/example" if "heard" in values else "like/example_opening"]
    return page.fill(**{gap: fenced(text, *marks, *page.marks) for gap, text in values.items()})


def shortened(text: str, most: int, *, ends: bool) -> str:
    """The text, or its beginning; with `ends` its beginning and its end.

    A mark stands for the omitted part.
    """
    text = text.strip()
    if len(text) <= most:
        return text
    if not ends:
        return text[:most].rstrip() + _LEFT_OUT.rstrip()
    return text[: most // 2].rstrip() + _LEFT_OUT + text[-(most // 2) :].lstrip()
