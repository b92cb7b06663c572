"""Scenarios about situations, for the RecLLMSim cast: tasks x contexts x profiles, or conversations played again."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from ..data import recllmsim
from ..data.identity import ordinals
from ..data.recllmsim import Situation
from ..data.records import Conversation, Message
from ..data.text.languages import Language
from ..errors import SettingError
from ..nodes.replay import replayed
from ..nodes.state import State
from .sources import Scenarios, ScenarioSource, replayed_paths, texts_of

SHOWN = 3
"""Odd conversations, or equal profiles, that are named in a line."""


class TaskSource(ScenarioSource):
    """Tasks x contexts x profiles, shipped or of files; where a side replays, the situations of what it replays."""

    task: list[str] | None = Field(default=None, description="Only this task; may be given several times.")
    tasks: Path | None = Field(default=None, description="Tasks: a workbook or YAML. Default: the shipped ones.")
    contexts: str | None = Field(default=None, description="Only these contexts of each task, by number from 0: 0,3.")
    profiles: Path | None = Field(default=None, description="Pool of profiles. Default: the shipped ones.")
    sample: int | None = Field(default=None, ge=1, description="N profiles drawn by the seed.")

    def read(self, settings: Any, seed: int) -> Scenarios:
        """One scenario for each task, context and profile that is asked for."""
        replays = replayed_paths(settings)
        if replays and (self.profiles or self.tasks):
            raise SettingError("--profiles and --tasks: a replayed side has its own: leave them out")
        about: Sequence[Situation | Conversation]
        if replays:
            about, source, notes = _replayed(replays)
        else:
            about, source, notes = self._combined(settings.language or "en")
        about = recllmsim.chosen(
            about, tasks=self.task, contexts=_numbers(self.contexts), profiles=self.sample, seed=seed
        )
        language = settings.language or _language_of(about, "en")
        others = sum(_language_of([each], language) != language for each in about)
        if len(replays) == 1 and others:
            notes.append(
                f"{others} of {len(about)} conversations are in another language than the run, which is in {language}"
            )
        for number, each in enumerate(about):
            self.check_size(texts_of(scenario(each)["scenario"]), f"situation {number}")
        return Scenarios(
            self.repeated(scenarios(about), settings)[: self.limit],
            self.about(**source),
            settings={"language": language},
            notes=tuple(notes),
            broken=bool(source.get("broken")),
        )

    def _combined(self, language: Language) -> tuple[list[Situation], dict[str, Any], list[str]]:
        """Tasks x contexts x profiles, what is known of their source, and lines for the reader."""
        tasks = recllmsim.read_tasks(self.tasks) if self.tasks else recllmsim.shipped_tasks(language)
        pool = recllmsim.read_pool(self.profiles) if self.profiles else recllmsim.shipped_profiles(language)
        notes = []
        if self.profiles and pool.duplicates:
            first = ", ".join(" = ".join(map(str, group)) for group in pool.duplicates[:SHOWN])
            more = ", ..." if len(pool.duplicates) > SHOWN else ""
            notes.append(f"{self.profiles}: {pool.distinct} of {len(pool)} profiles differ (equal: {first}{more})")
        if pool.language != language:
            notes.append(
                f"the profiles are in {pool.language}, the run is in {language}: give --language {pool.language}, or others"
            )
        names = [
            path.name if path else f"samples/{what}/{language}"
            for path, what in ((self.tasks, "tasks"), (self.profiles, "profiles"))
        ]
        source: dict[str, Any] = {"source": ", ".join(names)}
        if self.tasks is None and self.profiles is None:
            source |= {"licence": "MIT, written for duologue", "licence_id": "mit"}
        return recllmsim.combined(tasks, pool.texts, language), source, notes


def _replayed(paths: list[Path]) -> tuple[list[Conversation], dict[str, Any], list[str]]:
    """The conversations that are played again, and what is known of their source; odd and broken files are named."""
    notes = []
    if len(set(paths)) == 2:
        notes.append("user and assistant replay two folders: replies belong to the messages of their own folder")
    loaded = replayed(paths[0])
    odd = recllmsim.oddities(loaded)
    for line in loaded.notes:
        what = line.partition(":")[0]
        which = f" ({', '.join(odd[what][:SHOWN])}{', ...' if len(odd[what]) > SHOWN else ''})" if what in odd else ""
        notes.append(f"{paths[0]}: {line}{which}")
    source: dict[str, Any] = {"source": paths[0].name}
    # What no cast could have said is played as it is; the manifest names every such conversation.
    if odd:
        source["odd"] = odd
    if loaded.broken:
        source["broken"] = list(loaded.broken)
    return list(loaded), source, notes


def _language_of(about: Sequence[Situation | Conversation], otherwise: Language) -> Language:
    """The language that all of these are in."""
    languages: set[Language] = {
        (Situation.of(each) if isinstance(each, Conversation) else each).language for each in about
    }
    return languages.pop() if len(languages) == 1 else otherwise


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise SettingError(f"--contexts: {text!r} is no row of numbers: write 0,3") from None


def scenario(
    about: Situation | Conversation | Mapping[str, Any],
    *,
    ordinal: int = 0,
    repeat: int = 0,
    messages: Iterable[Message] = (),
) -> State:
    """The initial state of a conversation about a situation; `messages` were already said.

    Of a conversation that is played again: its situation and its place. What annotators said of it as a whole
    is true of it alone: a cast whose two sides replay it adds that at its end.
    """
    situation = Situation.of(about) if isinstance(about, Conversation) else Situation.model_validate(about)
    state: State = {
        "scenario": situation.scenario(),
        "ordinal": ordinal,
        "repeat": repeat,
        "messages": [message.plain() for message in messages],
    }
    if isinstance(about, Conversation):
        state["extra"] = dict(about.extra)
    return state


def scenarios(about: Sequence[Situation | Conversation]) -> list[State]:
    """One initial state for each, in order; equal situations are told apart by number."""
    states = [scenario(each) for each in about]
    for state, ordinal in zip(states, ordinals(state["scenario"] for state in states), strict=True):
        state["ordinal"] = ordinal
    return states
