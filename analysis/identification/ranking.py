"""Options in an order, of a model, of people or of rules, as scores; and people's guesses as they wrote them down."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ...data.formats.jsonfiles import read_lines
from ...errors import DataError, at
from ..judges.scores import Floats
from .talks import ProfileTalk
from .vocabulary import VOCABULARY, aspect_named, option

Ranking: TypeAlias = Mapping[str, Sequence[str]]
"""For each aspect options in English, the likeliest first; aspects may be missing."""
Rank: TypeAlias = Callable[[ProfileTalk], Ranking]
"""What ranks the options of a conversation's user. It must not read its labels."""

STEP = 0.01
"""How much less the score of an option is than that of the one before, as published."""
GUESSES = "profile"
"""Name of the label of people's guesses."""


def ranked_scores(ranked: Sequence[str], aspect: str) -> Floats:
    """A score for each option of the vocabulary: 1 less .01 for each place, from the first; 0 for those not named."""
    scores = np.zeros(len(VOCABULARY[aspect]))
    for place, name in enumerate(ranked):
        scores[VOCABULARY[aspect].index(name)] = 1 - STEP * place
    return scores


def ranking_of(value: object) -> dict[str, tuple[str, ...]]:
    """The ranking that a plain value tells: `{aspect: [options]}`, in either language.

    What is unknown is left out, and so is an aspect of which nothing is known.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name, values in value.items() if isinstance(value, Mapping) else ():
        if (aspect := aspect_named(str(name))) is None or not isinstance(values, list):
            continue
        told = [option(aspect, each) for each in values]
        if known := tuple(dict.fromkeys(each for each in told if each is not None)):
            found[aspect] = known
    return found


def read_guesses(source: Path) -> list[dict[tuple[str, str], dict[str, tuple[str, ...]]]]:
    """People's guesses: for each person the ranking by conversation, told by `("path", PATH)` and by `("id", ID)`.

    `source`: a file of JSON lines, or a folder of them. A line has `label` "profile", `value` {aspect: [options, the
    likeliest first]}, `conversation` (an id), perhaps `path`, and `by`; of one person's lines about one conversation the
    last counts, and one that is `undone` counts as none. DataError for what is no such file, or without guesses.
    """
    files = sorted(source.glob("*.jsonl")) if source.is_dir() else [source]
    by_person: dict[str, dict[tuple[str, str], dict[str, tuple[str, ...]]]] = {}
    for file in files:
        for number, line in read_lines(file, torn=True):
            if not isinstance(line, Mapping):
                raise DataError(f"{at(file, f'line {number}')}: is no object: give the answers of `duologue label`")
            if line.get("label") == GUESSES:
                _take(by_person.setdefault(str(line.get("by", "")), {}), line)
    people = [kept for kept in by_person.values() if kept]
    if not people:
        raise DataError(
            f"{at(source)}: holds no guess: give the folder of answers of `duologue label --labels profile`"
        )
    return people


def _take(kept: dict[tuple[str, str], dict[str, tuple[str, ...]]], line: Mapping[str, Any]) -> None:
    keys = [("id", line.get("conversation")), ("path", line.get("path"))]
    for key in ((kind, name) for kind, name in keys if isinstance(name, str) and name):
        ranking = ranking_of(line.get("value"))
        if line.get("undone") or not ranking:
            kept.pop(key, None)
        else:
            kept[key] = ranking


def guessed(people: Sequence[Mapping[tuple[str, str], Ranking]], talk: ProfileTalk, aspect: str) -> Floats | None:
    """The mean of people's scores of each option of the conversation; None if nobody guessed it."""
    found = []
    for kept in people:
        ranking = kept.get(("path", talk.path)) or kept.get(("id", talk.id))
        if ranking and aspect in ranking:
            found.append(ranked_scores(ranking[aspect], aspect))
    if not found:
        return None
    mean: Floats = np.mean(found, axis=0)
    return mean
