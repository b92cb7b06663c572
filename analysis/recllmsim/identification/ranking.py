"""Rankings of options, by a model, by people or by rules, as scores; and files of people's guesses."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ....data.files.json import read_lines
from ....errors import DataError, at
from ...over_users.estimate import FloatArray
from .talks import ProfileTalk
from .vocabulary import ASPECTS, VOCABULARY, aspect_named, option

OptionRanking: TypeAlias = Mapping[str, Sequence[str]]
"""For each aspect options in English, the likeliest first; aspects may be missing."""
Rank: TypeAlias = Callable[[ProfileTalk], OptionRanking]
"""A ranking of the options of a conversation's user. It must not read the labels."""

STEP = 0.01
"""How much less the score of an option is than that of the one before, as published."""
GUESSES = "profile"
"""Name of the label of people's guesses of all aspects at once; of one aspect it is `profile_ASPECT`."""


def ranked_scores(ranked: Sequence[str], aspect: str) -> FloatArray:
    """A score for each option of the vocabulary: 1 less .01 for each place, from the first.

    Options that are not named have 0.
    """
    scores = np.zeros(len(VOCABULARY[aspect]))
    for place, name in enumerate(ranked):
        scores[VOCABULARY[aspect].index(name)] = 1 - STEP * place
    return scores


def ranking_of(value: object) -> dict[str, tuple[str, ...]]:
    """The ranking in a plain value, `{aspect: [options]}`, in either language.

    Unknown words are left out, and so is an aspect without a known word.
    """
    return _parsed(value)[0]


def _parsed(value: object) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The ranking in a plain value, and the names of aspects and their words that are left out."""
    if not isinstance(value, Mapping):
        return {}, [repr(value)]
    ranking: dict[str, tuple[str, ...]] = {}
    odd = []
    for name, values in value.items():
        if (aspect := aspect_named(str(name))) is None:
            odd.append(repr(name))
        elif not isinstance(values, list):
            odd.append(f"{name} {values!r}")
        else:
            options = [option(aspect, word) for word in values]
            odd += [f"{name} {word!r}" for word, english in zip(values, options, strict=True) if english is None]
            if ranked := tuple(dict.fromkeys(english for english in options if english is not None)):
                ranking[aspect] = ranked
    return ranking, odd


def read_guesses(source: Path) -> list[dict[tuple[str, str], dict[str, tuple[str, ...]]]]:
    """People's guesses: for each person the ranking by conversation, under `("path", PATH)` and by `("id", ID)`.

    `source`: a file of JSON lines, or a folder of them. A line has `label` "profile", `value` {aspect: [options, the
    likeliest first]}, `conversation` (an id), perhaps `path`, and `by`; or `label` and aspect are `profile_ASPECT`. Of one
    person's lines about one conversation the last counts, and one that is `undone` does not count. DataError for another file, or without guesses.
    """
    by_person: dict[str, dict[tuple[str, str], dict[str, tuple[str, ...]]]] = {}
    for line in _guesses(source):
        _take(by_person.setdefault(str(line.get("by", "")), {}), line)
    people = [guesses for guesses in by_person.values() if guesses]
    if not people:
        raise DataError(
            f"{at(source)}: has no guess: give the folder of answers of `duologue label --labels profile_personality`"
        )
    return people


def guesses_left_out(source: Path, talks: Sequence[ProfileTalk]) -> list[str]:
    """Lines that count the words of people's guesses that are left out, and the guesses without a conversation here.

    Errors as of `read_guesses`.
    """
    odd: list[str] = []
    lost = count = 0
    there = {("id", talk.id) for talk in talks} | {("path", talk.path) for talk in talks}
    for line in _guesses(source):
        if line.get("undone"):
            continue
        odd += _parsed(line.get("value"))[1]
        count += 1
        lost += there.isdisjoint({("id", line.get("conversation")), ("path", line.get("path"))})
    lines = []
    if odd:
        lines.append(f"{len(odd)} words of people's guesses are not options and are left out, such as {odd[0][:80]}")
    if lost:
        lines.append(f"{lost} of {count} guesses of people are of no conversation here, and are left out")
    return lines


def _guesses(source: Path) -> Iterator[Mapping[str, Any]]:
    """The lines of a file, or of a folder's files, that are guesses."""
    for file in sorted(source.glob("*.jsonl")) if source.is_dir() else [source]:
        for number, line in read_lines(file, torn=True):
            if not isinstance(line, Mapping):
                raise DataError(f"{at(file, f'line {number}')}: is not an object: give the answers of `duologue label`")
            if line.get("label") in (GUESSES, *(f"{GUESSES}_{aspect}" for aspect in ASPECTS)):
                yield line


def _take(guesses: dict[tuple[str, str], dict[str, tuple[str, ...]]], line: Mapping[str, Any]) -> None:
    keys = [("id", line.get("conversation")), ("path", line.get("path"))]
    for key in ((kind, name) for kind, name in keys if isinstance(name, str) and name):
        ranking = {} if line.get("undone") else ranking_of(line.get("value"))
        others = guesses.pop(key, {}).items()
        kept = {aspect: of for aspect, of in others if line["label"] not in (GUESSES, f"{GUESSES}_{aspect}")}
        if kept | ranking:
            guesses[key] = kept | ranking


def guessed(
    people: Sequence[Mapping[tuple[str, str], OptionRanking]], talk: ProfileTalk, aspect: str
) -> FloatArray | None:
    """The mean of people's scores of each option of the conversation; None without a guess."""
    scores = []
    for guesses in people:
        ranking = guesses.get(("path", talk.path)) or guesses.get(("id", talk.id))
        if ranking and aspect in ranking:
            scores.append(ranked_scores(ranking[aspect], aspect))
    if not scores:
        return None
    mean: FloatArray = np.mean(scores, axis=0)
    return mean
