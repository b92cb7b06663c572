"""The situations of a run: every combination of tasks, contexts and profiles, and a selection of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from ...errors import DataError
from ..records import Conversation
from ..text.languages import Language
from .profiles import sampled
from .situations import Situation

Source = TypeVar("Source", Situation, Conversation, Situation | Conversation)


def combined(tasks: Mapping[str, Sequence[str]], profiles: Iterable[str], language: Language = "en") -> list[Situation]:
    """Every combination of task, context and profile, in this order; `profiles` are texts with ids from 0."""
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
    sources: Sequence[Source],
    *,
    tasks: Collection[str] | None = None,
    contexts: Collection[int] | None = None,
    profiles: int | None = None,
    seed: int = 0,
) -> list[Source]:
    """The situations or conversations with these tasks, context numbers and number of profiles, in order.

    Profiles are sampled like the published ones: `random.sample` of the pool with the seed.
    """
    known = list(dict.fromkeys(_situation(source).task for source in sources))
    for task in tasks or ():
        if task not in known:
            raise DataError(f"there is no task {task!r}, only {', '.join(known)}")
    kept = [source for source in sources if not tasks or _situation(source).task in tasks]
    if contexts is not None:
        known_contexts = sorted(
            {context_id for source in kept if (context_id := _situation(source).task_context_id) is not None}
        )
        for number in contexts:
            if not known_contexts:
                raise DataError(f"there is no context {number}: these conversations tell no number of their context")
            if number not in known_contexts:
                raise DataError(f"there is no context {number}: the tasks asked for have {_numbers(known_contexts)}")
        kept = [source for source in kept if _situation(source).task_context_id in contexts]
    if profiles is not None:
        pool = list(dict.fromkeys(map(_profile, kept)))
        drawn = {profile for _, profile in sampled(pool, profiles, seed)}
        kept = [source for source in kept if _profile(source) in drawn]
    return kept


def _numbers(numbers: Sequence[int]) -> str:
    """The ascending numbers in words; consecutive numbers as a range, such as `0 to 3, 5`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ", ".join(" to ".join(map(str, ends)) for ends in ranges)


def _situation(source: Situation | Conversation) -> Situation:
    return Situation.of(source) if isinstance(source, Conversation) else source


def _profile(source: Situation | Conversation) -> tuple[int | None, str]:
    situation = _situation(source)
    return situation.preference_id, situation.profile_text
