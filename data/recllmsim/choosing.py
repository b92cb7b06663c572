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
            preference_id=place,
        )
        for task, contexts in tasks.items()
        for number, context in enumerate(contexts)
        for place, text in enumerate(pool)
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
    known = list(dict.fromkeys(_of(one).task for one in about))
    for task in tasks or ():
        if task not in known:
            raise DataError(f"there is no task {task!r}, only {', '.join(known)}")
    kept = [one for one in about if not tasks or _of(one).task in tasks]
    if contexts is not None:
        there = sorted({place for one in kept if (place := _of(one).task_context_id) is not None})
        for number in contexts:
            if not there:
                raise DataError(f"there is no context {number}: these conversations tell no number of their context")
            if number not in there:
                raise DataError(f"there is no context {number}: the tasks asked for have {_numbers(there)}")
        kept = [one for one in kept if _of(one).task_context_id in contexts]
    if profiles is not None:
        pool = list(dict.fromkeys(_who(one) for one in kept))
        drawn = {who for _, who in sampled(pool, profiles, seed)}
        kept = [one for one in kept if _who(one) in drawn]
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


def _of(one: Situation | Conversation) -> Situation:
    return Situation.of(one) if isinstance(one, Conversation) else one


def _who(one: Situation | Conversation) -> tuple[int | None, str]:
    situation = _of(one)
    return situation.preference_id, situation.profile_text
