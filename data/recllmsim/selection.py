"""The situations of a run: every combination of tasks, contexts and profiles, and a selection of them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ...errors import DataError
from ..records import Conversation
from ..text.languages import Language
from ..text.terminal import names_in
from .contexts import MOST_TOGETHER
from .profiles import sampled
from .situations import Situation

Source = TypeVar("Source", Situation, Conversation, Situation | Conversation)


@dataclass(frozen=True)
class Combination(Collection[Situation]):
    """Every combination of task, context and profile, in this order.

    Each situation is made on access.
    """

    tasks: Mapping[str, Sequence[str]]
    """The contexts of each task; a context's index is its number."""
    profiles: Sequence[tuple[int, str]]
    """Ids and texts."""
    language: Language = "en"
    contexts: frozenset[int] | None = None
    """Only contexts with these numbers; None for all."""

    def __len__(self) -> int:
        contexts = sum(len(self._numbers(task)) for task in self.tasks)
        return contexts * len(self.profiles)

    def __iter__(self) -> Iterator[Situation]:
        if not self.profiles:
            return
        size = 0
        for task, contexts in self.tasks.items():
            for number in self._numbers(task):
                context = contexts[number]
                size += len(context)
                if size > MOST_TOGETHER:
                    raise DataError(
                        f"the contexts up to {task!r}, {number} have more than {MOST_TOGETHER:,} characters: "
                        "give fewer, or shorter ones"
                    )
                for preference_id, text in self.profiles:
                    yield Situation(
                        language=self.language,
                        task=task,
                        task_context=context,
                        task_context_id=number,
                        preference=text,
                        preference_id=preference_id,
                    )

    def __contains__(self, situation: object) -> bool:
        return any(situation == member for member in self)

    def _numbers(self, task: str) -> Sequence[int]:
        """The numbers of a task's contexts that are wanted, ascending."""
        every = range(len(self.tasks[task]))
        return every if self.contexts is None else sorted(number for number in self.contexts if number in every)

    def chosen(
        self,
        *,
        tasks: Collection[str] | None = None,
        contexts: Collection[int] | None = None,
        profiles: int | None = None,
        seed: int = 0,
    ) -> "Combination":
        """The selection of the function `chosen` from all situations, without making them."""
        tasks = _named(tasks, [task for task in self.tasks if self._numbers(task)] if self.profiles else [])
        chosen_tasks = {task: self.tasks[task] for task in self.tasks if not tasks or task in tasks}
        if contexts is not None:
            numbers = sorted(
                {number for task in chosen_tasks for number in self._numbers(task)} if self.profiles else ()
            )
            _check_contexts(contexts, numbers)
        of_both = self.contexts if contexts is None else frozenset(contexts) & (self.contexts or frozenset(contexts))
        combination = replace(self, tasks=chosen_tasks, contexts=of_both)
        if profiles is None:
            return combination
        drawn = {place for place, _ in sampled(self.profiles if len(combination) else (), profiles, seed)}
        return replace(combination, profiles=[pair for place, pair in enumerate(self.profiles) if place in drawn])


def combined(tasks: Mapping[str, Sequence[str]], profiles: Iterable[str], language: Language = "en") -> list[Situation]:
    """Every combination of task, context and profile, in this order; `profiles` are texts with ids from 0."""
    return list(Combination(tasks, tuple(enumerate(profiles)), language))


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
    names = list(dict.fromkeys(_situation(source).task for source in sources))
    tasks = _named(tasks, names)
    selection = [source for source in sources if not tasks or _situation(source).task in tasks]
    if contexts is not None:
        ids = {context_id for source in selection if (context_id := _situation(source).task_context_id) is not None}
        _check_contexts(contexts, sorted(ids))
        selection = [source for source in selection if _situation(source).task_context_id in contexts]
    if profiles is not None:
        pool = list(dict.fromkeys(map(_profile, selection)))
        drawn = {profile for _, profile in sampled(pool, profiles, seed)}
        selection = [source for source in selection if _profile(source) in drawn]
    return selection


def _named(tasks: Collection[str] | None, names: Sequence[str]) -> list[str]:
    """The names of tasks, of which a text may hold several with commas between them; DataError for an unknown one."""
    chosen = names_in(tasks or (), names)
    for task in chosen:
        if task not in names:
            raise DataError(f"there is no task {task!r}, only {', '.join(names)}")
    return chosen


def _check_contexts(contexts: Collection[int], available: Sequence[int]) -> None:
    for number in contexts:
        if not available:
            raise DataError(f"there is no context {number}: these conversations have no number of their context")
        if number not in available:
            raise DataError(f"there is no context {number}: the tasks asked for have {_numbers(available)}")


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
