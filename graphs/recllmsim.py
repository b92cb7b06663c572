"""The RecLLMSim cast: a user with a profile and a task plans something with an assistant.

After RecLLMSim and RecUserSim: travel, presents, meals, skills, restaurants. The user knows its profile and its
task; the assistant knows only what the user says.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from pydantic import Field

from ..data import recllmsim as data
from ..data.recllmsim import KIND, Situation
from ..data.records import Conversation, Message, Role
from ..data.text.languages import Language, language_of
from ..errors import DataError, SettingError
from ..nodes import recllmsim as nodes
from ..nodes.contract import Node, closing
from ..nodes.goodbyes import Ending
from ..nodes.prompt_selectors import RepairPrompts
from ..nodes.requests import PostQuestions
from ..nodes.speakers.replay import ReplaySpeaker, replayed
from ..nodes.state import Planned
from ..nodes.validators import Observing, not_empty
from .casts.cast import STORED, Cast, stored_words
from .casts.registry import Assistant, Common, User, assembled, library, ships
from .graph import conversation
from .scenarios.sources import Scenarios, ScenarioSource, numbered, of_another_kind, replayed_paths

Subject: TypeAlias = Situation | Conversation
NAME = KIND
PUBLISHED = "recllmsim_as_published"
TURNS = 10
"""Maximum turns of a conversation, as in the published data."""


class TaskSource(ScenarioSource):
    """Every task in every context with every profile, shipped or from files.

    If a side replays stored conversations, their situations instead.
    """

    subjects = ("tasks", "profiles")
    task: list[str] | None = Field(default=None, description="Take only these tasks; may be repeated.")
    tasks: Path | None = Field(
        default=None, description="Read the tasks from this file, a workbook or YAML. Default: the shipped tasks."
    )
    contexts: list[int] | None = Field(
        default=None, description="Take only this context of each task, a number from 0; may be repeated. Default: all."
    )
    profiles: Path | None = Field(
        default=None, description="Read user profiles from this file or folder. Default: the shipped profiles."
    )
    sample: int | None = Field(default=None, ge=1, description="Draw N profiles at random with the seed. Default: all.")

    def fitting(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """The situation as a scenario; DataError for another kind, or without a task, a context or a profile."""
        kind = scenario.get("kind", KIND if "task_context" in scenario else None)
        if kind != KIND:
            raise DataError(of_another_kind(kind, "tasks with a context and a profile", KIND))
        situation = {"kind": kind, **scenario}
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
        chosen_ids = {id(situation) for situation in self._chosen(situations, seed)}
        pairs = zip(states, situations, strict=True)
        return [state for state, situation in pairs if id(situation) in chosen_ids][: self.limit]

    def _chosen(self, subjects: Sequence[Any], seed: int) -> Sequence[Any]:
        return data.chosen(subjects, tasks=self.task, contexts=self.contexts, profiles=self.sample, seed=seed)

    def settings_for(self, states: Sequence[Planned]) -> dict[str, Any]:
        """The language that all situations share."""
        return {"language": _language_of(states)}

    def remarks(self, states: Sequence[Planned], settings: Any) -> list[str]:
        """Situations in another language than the run, and those with an empty profile."""
        language = settings.language or _language_of(states)
        others = sum(state["scenario"]["language"] != language for state in states)
        nameless = sum(not Situation.of(state["scenario"]).profile_text.strip() for state in states)
        counts = {
            f"are in another language than the run, which is in {language}": others
            * (len(replayed_paths(settings)) < 2),
            "have an empty profile: their users have none": nameless,
        }
        return [f"{count} of {len(states)} scenarios {what}" for what, count in counts.items() if count]

    def own(self, settings: Any, seed: int) -> Scenarios:
        """One scenario for each selected task, context and profile, or for each conversation that a side replays."""
        paths = replayed_paths(settings)
        if paths and (self.profiles or self.tasks):
            raise SettingError("--profiles and --tasks: a replayed side has its own: leave them out")
        return self._replayed(paths[0], seed) if paths else self._combined(settings.language or "en", seed)

    def _combined(self, language: Language, seed: int) -> Scenarios:
        """The tasks in their contexts with each profile."""
        tasks = data.read_tasks(self.tasks) if self.tasks else data.shipped_tasks(language)
        pool = data.read_pool(self.profiles) if self.profiles else data.shipped_profiles(language)
        situations = self._chosen(data.combined(tasks, pool.texts, language), seed)
        notes = []
        if self.profiles and (different := len(set(pool.texts))) < len(pool):
            notes.append(f"{self.profiles}: {different} of {len(pool)} profiles differ")
        if pool.language != language:
            notes.append(
                f"the profiles are in {pool.language}, the run is in {language}: give --set language={pool.language}, or others"
            )
        given = ((self.tasks, "tasks"), (self.profiles, "profiles"))
        source = {"source": ", ".join(path.name if path else f"samples/{folder}/{language}" for path, folder in given)}
        if self.tasks is None and self.profiles is None:
            source |= {"licence": "MIT, written for duologue", "licence_id": "mit"}
        states = [scenario(situation) for situation in islice(situations, self.limit)]  # no two are equal
        return Scenarios(states, source, notes=tuple(notes))

    def _replayed(self, path: Path, seed: int) -> Scenarios:
        """The situations of stored conversations; a broken file is named in the manifest."""
        loaded = replayed(path)
        about = {"source": path.name, "broken": list(loaded.broken)}
        about = {name: value for name, value in about.items() if value}
        states = scenarios(self._chosen(list(loaded), seed)[: self.limit])
        notes = tuple(f"{path}: {line}" for line in loaded.notes)
        return Scenarios(states, about, notes=notes, broken=bool(loaded.broken))


def _language_of(states: Sequence[Planned]) -> Language:
    """The language of all situations if they share one, else English."""
    languages: set[Language] = {state["scenario"]["language"] for state in states}
    return languages.pop() if len(languages) == 1 else "en"


def scenario(subject: Subject | Mapping[str, Any], *, messages: Iterable[Message] = ()) -> Planned:
    """The initial state of a conversation about a situation; `messages` come first.

    A stored conversation gives its situation and its `extra`, but not its labels. Annotators gave these to that very
    conversation, so a cast adds them at the end only if it replays both roles.
    """
    situation = Situation.of(subject) if isinstance(subject, Conversation) else Situation.model_validate(subject)
    state: Planned = {"scenario": situation.scenario(), "messages": [message.plain() for message in messages]}
    if isinstance(subject, Conversation):
        state["extra"] = dict(subject.extra)
    return state


def scenarios(subjects: Sequence[Subject]) -> list[Planned]:
    """One initial state for each, in order; equal situations get different numbers."""
    return numbered([scenario(subject) for subject in subjects])


@ships(TaskSource)
def cast(
    user: User = "offline",
    assistant: Assistant = "offline",
    *,
    language: Language | None = None,
    opens: Role | None = None,
    handshake: bool | None = None,
    post_questions: bool = False,
    proactive: bool = False,
    may_give_up: bool = False,
    strict_ending: bool = False,
    as_published: bool = False,
    **common: Unpack[Common],
) -> Cast:
    """A user with a profile and a task plans something with an assistant (RecLLMSim, RecUserSim).

    If a role replays stored conversations, its validator only takes notes, and the number of turns is that of the
    stored conversation. `prompts`: a folder, or a whole library.

    Args:
        language: Choose the language of prompts, shipped tasks and profiles. Default: that of the replayed
            conversations, or en.
        opens: Begin with the user or the assistant. The assistant begins with a fixed greeting, which the published
            files leave out. Default: user; with as_published: assistant.
        handshake: Show the user model one prompt template at a time, each acknowledged in fixed words. Default: only
            with as_published.
        post_questions: Ask both roles questions about the finished conversation.
        proactive: Give the assistant a list of matters to raise by itself.
        may_give_up: Give the user a phrase for giving up.
        strict_ending: End only if a message ends with the whole closing phrase. Default: its words may be anywhere.
        as_published: Use the settings of the published program; user messages are never rejected, only counted.
    """
    sides: dict[Role, Any] = {"user": stored_words("user", user), "assistant": stored_words("assistant", assistant)}
    replays = [side for side in sides.values() if isinstance(side, ReplaySpeaker)]
    asked = {role: side for role, side in sides.items() if not isinstance(side, STORED)}
    language = language or "en"
    pages = library(NAME, common.get("prompts"), language)
    opens = opens or ("assistant" if as_published else "user")
    validator: Node = nodes.UserValidator(
        Ending(strict_ending, may_give_up) if "user" in asked else None,
        ends_anyway=as_published,
        instructions=() if as_published else nodes.told_to_user(pages),
    )
    ended: Node = PostQuestions(pages, asked) if post_questions else closing
    if len(replays) == 2 and replays[0].conversations == replays[1].conversations:
        ended = replays[0].labels
    return assembled(
        common,
        turns=TURNS,
        as_published=as_published,
        name=PUBLISHED if as_published else NAME,
        user_prompt_selector=nodes.UserPrompts(pages, language, may_give_up),
        user_view=nodes.UserMessages(pages, as_published if handshake is None else handshake),
        user_simulator=sides["user"],
        question_validator=Observing(validator) if as_published else validator,
        assistant_prompt_selector=RepairPrompts("assistant", pages),
        assistant_view=nodes.AssistantMessages(pages, proactive),
        assistant=sides["assistant"],
        answer_validator=nodes.published_reply_validator if as_published else not_empty,
        closing=ended,
        greeting=pages["assistant/greeting"].fill() if opens == "assistant" and not replays else None,
        prompts=pages,
    )


graph = conversation(cast())
"""The conversation of two offline speakers: what `langgraph dev` serves."""
