"""Options in an order, of a model, of people or of rules, as scores; and people's guesses as they wrote them down."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    by_person: dict[str, dict[tuple[str, str], dict[str, tuple[str, ...]]]] = {}
    for line in _guesses(source):
        _take(by_person.setdefault(str(line.get("by", "")), {}), line)
    people = [kept for kept in by_person.values() if kept]
    if not people:
        raise DataError(
            f"{at(source)}: holds no guess: give the folder of answers of `duologue label --labels profile`"
        )
    return people


def guesses_left_out(source: Path, talks: Sequence[ProfileTalk]) -> list[str]:
    """Lines that say which words of people's guesses are no option, and how many guesses are of no conversation of these.

    Errors as of `read_guesses`.
    """
    odd: list[str] = []
    lost = count = 0
    there = {("id", talk.id) for talk in talks} | {("path", talk.path) for talk in talks}
    for line in _guesses(source):
        if line.get("undone"):
            continue
        odd += _unknown(line.get("value"))
        count += 1
        lost += there.isdisjoint({("id", line.get("conversation")), ("path", line.get("path"))})
    found = []
    if odd:
        found.append(f"{len(odd)} words of people's guesses are no option and are left out, such as {odd[0][:80]}")
    if lost:
        found.append(f"{lost} of {count} guesses of people are of no conversation here, and are left out")
    return found


def _unknown(value: object) -> list[str]:
    """What `ranking_of` leaves out: names of aspects, and words of an aspect."""
    if not isinstance(value, Mapping):
        return [repr(value)]
    odd = []
    for name, values in value.items():
        if (aspect := aspect_named(str(name))) is None:
            odd.append(repr(name))
        elif not isinstance(values, list):
            odd.append(f"{name} {values!r}")
        else:
            odd += [f"{name} {each!r}" for each in values if option(aspect, each) is None]
    return odd


def _guesses(source: Path) -> Iterator[Mapping[str, Any]]:
    """The lines of a file, or of a folder's files, that are guesses."""
    for file in sorted(source.glob("*.jsonl")) if source.is_dir() else [source]:
        for number, line in read_lines(file, torn=True):
            if not isinstance(line, Mapping):
                raise DataError(f"{at(file, f'line {number}')}: is no object: give the answers of `duologue label`")
            if line.get("label") == GUESSES:
                yield line


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
