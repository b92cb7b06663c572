"""Scenarios for the RecLLMSim cast: a task in a context for a user with a profile, or stored conversations."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from ...data import recllmsim
from ...data.recllmsim import Situation
from ...data.recllmsim.selection import Combination
from ...data.recllmsim.tasks import tasks_on_demand
from ...data.records import Conversation, Message
from ...data.text.languages import Language, language_of
from ...data.text.model_tokens import texts_in
from ...errors import DataError, SettingError
from ...nodes.speakers.replay import replayed
from ...nodes.state import Planned
from .planned_states import MOST_SCENARIOS, numbered
from .sources import Scenarios, ScenarioSource, of_another_kind, replayed_paths

SHOWN = 3
"""How many odd conversations, or groups of equal profiles, a note names."""


class TaskSource(ScenarioSource):
    """Every task in every context with every profile, shipped or from files.

    If a side replays stored conversations, their situations instead.
    """

    task: list[str] | None = Field(default=None, description="Take only these tasks; may be repeated.")
    tasks: Path | None = Field(
        default=None, description="Read the tasks from this file, a workbook or YAML. Default: the shipped tasks."
    )
    contexts: list[str] | None = Field(
        default=None,
        description="Take only these contexts of each task, by number from 0: 0,3; may be repeated. Default: all.",
    )
    profiles: Path | None = Field(
        default=None, description="Read user profiles from this file or folder. Default: the shipped profiles."
    )
    sample: int | None = Field(default=None, ge=1, description="Draw N profiles at random with the seed. Default: all.")

    @field_validator("contexts", mode="before")
    @classmethod
    def _one_text(cls, contexts: Any) -> Any:
        return [contexts] if isinstance(contexts, str) else contexts

    def check(self) -> None:
        """Raise SettingError for tasks or profiles beside stored ones."""
        if self.tasks is not None or self.profiles is not None:
            raise SettingError("--tasks and --profiles: --scenarios has tasks and profiles of its own: leave them out")

    def fitting(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """The situation as a scenario; DataError for another kind, or without a task, a context or a profile."""
        kind = scenario.get("kind", recllmsim.KIND if "task_context" in scenario else None)
        if kind != recllmsim.KIND:
            raise DataError(of_another_kind(kind, "tasks with a context and a profile", recllmsim.KIND))
        situation = {"kind": kind} | scenario
        if "preference" not in situation and isinstance(situation.get("profile"), str):
            situation["preference"] = situation.pop("profile")
        if "preference" not in situation and "profile" not in situation:
            raise DataError("has no profile: give it a 'preference', which is a text, or a 'profile', an object")
        if "language" not in situation and isinstance(context := situation.get("task_context"), str):
            situation["language"] = language_of(context) or "en"
        return Situation.of(situation).scenario()

    def selected(self, states: Sequence[Planned], seed: int) -> Sequence[Planned]:
        """Those of the chosen tasks, contexts and number of profiles."""
        situations = [Situation.of(state["scenario"]) for state in states]
        choice: dict[str, Any] = {"contexts": _numbers(self.contexts), "profiles": self.sample, "seed": seed}
        chosen_ids = {id(situation) for situation in recllmsim.chosen(situations, tasks=self.task, **choice)}
        return [state for state, situation in zip(states, situations, strict=True) if id(situation) in chosen_ids]

    def settings_for(self, states: Sequence[Planned]) -> dict[str, Any]:
        """The language that all situations share."""
        return {"language": _language_of([Situation.of(state["scenario"]) for state in states], "en")}

    def remarks(self, states: Sequence[Planned], settings: Any) -> list[str]:
        """Situations in another language than the run, and those with an empty profile."""
        situations = [Situation.of(state["scenario"]) for state in states]
        language = settings.language or _language_of(situations, "en")
        notes = []
        if others := sum(situation.language != language for situation in situations):
            notes.append(
                f"{others} of {len(situations)} scenarios are in another language than the run, which is in {language}"
            )
        if nameless := sum(not situation.profile_text.strip() for situation in situations):
            notes.append(f"{nameless} of {len(situations)} scenarios have an empty profile: their users have none")
        return notes

    def own(self, settings: Any, seed: int) -> Scenarios:
        """One scenario for each selected task, context and profile."""
        replays = replayed_paths(settings)
        if replays and (self.profiles or self.tasks):
            raise SettingError("--profiles and --tasks: a replayed side has its own: leave them out")
        notes: list[str]
        subjects: Sequence[Situation | Conversation]
        choice: dict[str, Any] = {"contexts": _numbers(self.contexts), "profiles": self.sample, "seed": seed}
        if replays:
            stored, source, notes = _replayed(replays)
            subjects = recllmsim.chosen(stored, tasks=self.task, **choice)
        else:
            combination, source, notes = self._combined(settings.language or "en")
            subjects = self._first(combination.chosen(tasks=self.task, **choice))
        language = settings.language or _language_of(subjects, "en")
        others = sum(_language_of([subject], language) != language for subject in subjects) if replays else 0
        if len(replays) == 1 and others:
            notes.append(
                f"{others} of {len(subjects)} conversations are in another language than the run, which is in {language}"
            )
        for number, subject in enumerate(subjects):
            self.check_size(texts_in(scenario(subject)["scenario"]), f"situation {number}")
        states = scenarios(subjects) if replays else [scenario(subject) for subject in subjects]  # none is equal
        return Scenarios(
            self.repeated(states, settings)[: self.limit],
            self.source_info(**source),
            settings={"language": language},
            notes=tuple(notes),
            broken=bool(source.get("broken")),
        )

    def _first(self, situations: Combination) -> list[Situation]:
        """As many situations as are simulated, or all; DataError for more than a run can hold."""
        every = len(situations)
        needed = every if self.limit is None else min(every, -(-self.limit // self.repeats))
        if needed * self.repeats > MOST_SCENARIOS:
            raise DataError(
                f"{every * self.repeats:,} conversations are planned, the bound is {MOST_SCENARIOS:,}: "
                "choose by --limit, --sample, --task or --contexts"
            )
        return list(islice(situations, needed))

    def _combined(self, language: Language) -> tuple[Combination, dict[str, Any], list[str]]:
        """Every task in every context with every profile, their source, and notes for the reader."""
        tasks = tasks_on_demand(self.tasks) if self.tasks else recllmsim.shipped_tasks(language)
        pool = recllmsim.read_pool(self.profiles) if self.profiles else recllmsim.shipped_profiles(language)
        notes = []
        if self.profiles and pool.duplicates:
            first = ", ".join(" = ".join(_some(group)) for group in pool.duplicates[:SHOWN])
            more = ", ..." if len(pool.duplicates) > SHOWN else ""
            notes.append(f"{self.profiles}: {pool.distinct} of {len(pool)} profiles differ (equal: {first}{more})")
        if pool.language != language:
            notes.append(
                f"the profiles are in {pool.language}, the run is in {language}: give --language {pool.language}, or others"
            )
        names = [
            path.name if path else f"samples/{folder}/{language}"
            for path, folder in ((self.tasks, "tasks"), (self.profiles, "profiles"))
        ]
        source: dict[str, Any] = {"source": ", ".join(names)}
        if self.tasks is None and self.profiles is None:
            source |= {"licence": "MIT, written for duologue", "licence_id": "mit"}
        return Combination(tasks, tuple(enumerate(pool.texts)), language), source, notes


def _replayed(paths: list[Path]) -> tuple[list[Conversation], dict[str, Any], list[str]]:
    """The stored conversations that are replayed, their source with its odd and broken files, and notes."""
    notes = []
    if len(set(paths)) == 2:
        notes.append("user and assistant replay two folders: replies belong to the messages of their own folder")
    loaded = replayed(paths[0])
    odd = recllmsim.oddities(loaded)
    for line in loaded.notes:
        oddity = line.partition(":")[0]
        names = odd.get(oddity, [])
        examples = f" ({', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''})" if names else ""
        notes.append(f"{paths[0]}: {line}{examples}")
    source: dict[str, Any] = {"source": paths[0].name}
    # Conversations that no cast could have produced are replayed as they are; the manifest names them.
    if odd:
        source["odd"] = odd
    if loaded.broken:
        source["broken"] = list(loaded.broken)
    return list(loaded), source, notes


def _language_of(subjects: Sequence[Situation | Conversation], otherwise: Language) -> Language:
    """The language of all subjects if they share one, else `otherwise`."""
    languages: set[Language] = {
        (Situation.of(subject) if isinstance(subject, Conversation) else subject).language for subject in subjects
    }
    return languages.pop() if len(languages) == 1 else otherwise


def _some(group: Sequence[int]) -> list[str]:
    """The first ids of a group of equal profiles."""
    return [*map(str, group[: SHOWN + 1]), *(["..."] if len(group) > SHOWN + 1 else [])]


def _numbers(texts: Sequence[str] | None) -> list[int] | None:
    if texts is None:
        return None
    text = ",".join(texts)
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise SettingError(f"--contexts: {text!r}: expected numbers with commas between them: write 0,3") from None


def scenario(
    subject: Situation | Conversation | Mapping[str, Any],
    *,
    ordinal: int = 0,
    repeat: int = 0,
    messages: Iterable[Message] = (),
) -> Planned:
    """The initial state of a conversation about a situation; `messages` come first.

    A stored conversation gives its situation and its `extra`, but not its labels. Annotators gave these to that very
    conversation, so a cast adds them at the end only if it replays both roles.
    """
    situation = Situation.of(subject) if isinstance(subject, Conversation) else Situation.model_validate(subject)
    state: Planned = {
        "scenario": situation.scenario(),
        "ordinal": ordinal,
        "repeat": repeat,
        "messages": [message.plain() for message in messages],
    }
    if isinstance(subject, Conversation):
        state["extra"] = dict(subject.extra)
    return state


def scenarios(subjects: Sequence[Situation | Conversation]) -> list[Planned]:
    """One initial state for each, in order; equal situations get different numbers."""
    return numbered([scenario(subject) for subject in subjects])
