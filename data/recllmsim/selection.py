"""Which situations a run is about: tasks x contexts x profiles, and a choice among them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from ...errors import DataError
from ..records import Conversation
from ..text.languages import Language
from .profiles import sampled
from .situations import Situation

About = TypeVar("About", Situation, Conversation, Situation | Conversation)


def combined(tasks: Mapping[str, Sequence[str]], profiles: Iterable[str], language: Language = "en") -> list[Situation]:
    """Every task x context x profile, in this order; `profiles` are texts, numbered from 0."""
    pool = list(profiles)
    return [
        Situation(
            language=language,
            task=task,
            task_context=context,
            task_context_id=number,
            preference=text,
            preference_id=preference_id,
        )
        for task, contexts in tasks.items()
        for number, context in enumerate(contexts)
        for preference_id, text in enumerate(pool)
    ]


def chosen(
    about: Sequence[About],
    *,
    tasks: Collection[str] | None = None,
    contexts: Collection[int] | None = None,
    profiles: int | None = None,
    seed: int = 0,
) -> list[About]:
    """Those of the named tasks, of the numbered contexts, of as many profiles as asked for, in their order.

    Profiles are drawn as the published ones were: `random.sample` of the pool, seeded.
    """
    known = list(dict.fromkeys(_situation(each).task for each in about))
    for task in tasks or ():
        if task not in known:
            raise DataError(f"there is no task {task!r}, only {', '.join(known)}")
    kept = [each for each in about if not tasks or _situation(each).task in tasks]
    if contexts is not None:
        known_contexts = sorted({own for each in kept if (own := _situation(each).task_context_id) is not None})
        for number in contexts:
            if not known_contexts:
                raise DataError(f"there is no context {number}: these conversations tell no number of their context")
            if number not in known_contexts:
                raise DataError(f"there is no context {number}: the tasks asked for have {_numbers(known_contexts)}")
        kept = [each for each in kept if _situation(each).task_context_id in contexts]
    if profiles is not None:
        pool = list(dict.fromkeys(map(_profile, kept)))
        drawn = {profile for _, profile in sampled(pool, profiles, seed)}
        kept = [each for each in kept if _profile(each) in drawn]
    return kept


def _numbers(numbers: Sequence[int]) -> str:
    """The ascending numbers in words, rows of them by their ends."""
    rows: list[list[int]] = []
    for number in numbers:
        if rows and number == rows[-1][-1] + 1:
            rows[-1][1:] = [number]
        else:
            rows.append([number])
    return ", ".join(" to ".join(map(str, row)) for row in rows)


def _situation(about: Situation | Conversation) -> Situation:
    return Situation.of(about) if isinstance(about, Conversation) else about


def _profile(about: Situation | Conversation) -> tuple[int | None, str]:
    situation = _situation(about)
    return situation.preference_id, situation.profile_text
