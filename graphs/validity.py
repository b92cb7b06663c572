"""The casts that measure the validity of simulated users: agreement with people, detection of seeded faults.

In `meeting` a user meets an assistant and rates its satisfaction; in `rating` a model rates as the user of a stored
conversation. Both are functions of plain values, so that a run is recorded and resumed like any other.
"""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from ..data import domains
from ..data.executed_graph import SPEAKER_OF
from ..data.files.json import parsed
from ..data.identity import ordinals
from ..data.people import moments_of
from ..data.records import Conversation
from ..data.text.languages import Language, language_of
from ..nodes.judges import USER_DETAILS, by_model, satisfaction_of
from ..nodes.people import person_in
from ..nodes.recllmsim import goal_of
from ..nodes.scorers import scoring
from ..nodes.seeded_faults import heeded
from ..nodes.speakers.replay import ReplaySpeaker
from ..nodes.state import Planned
from . import agent_test
from .agent_test import unless_the_scenario_says
from .casts.cast import Cast, Speaker
from .single_turn import named_of_user, state_of

ERRANDS = "samples/errands.jsonl"
"""The shipped scenarios, eight in English and the same eight in Chinese."""
MEETING, RATING = f"{__name__}:meeting", f"{__name__}:rating"
"""The casts as `casts.find` takes them: what it makes is plain data, where speakers, source and judge are."""


def errands() -> list[Planned]:
    """The shipped scenarios: goals, facts, and what counts as success."""
    text = files("duologue.data").joinpath(ERRANDS).read_text(encoding="utf-8")
    return agent_test.scenarios(parsed(line, ERRANDS) for line in text.splitlines())


def contexts_of(conversations: Sequence[Conversation], limit: int) -> list[Planned]:
    """The goals of the people in stored conversations: the scenarios for users made from people.

    One of each context. The state has the name of its person, so that no person is played by their own words.
    """
    first_states: dict[str, Planned] = {}
    for moment in moments_of(conversations):
        if moment.turn or moment.ended or (state := state_of(moment, agent_test.NAME)) is None:
            continue
        of_domain = state["scenario"]
        scenario = {"goal": goal_of(of_domain), "task": domains.of(of_domain).task(of_domain)}
        if facts := person_in(of_domain):
            scenario["facts"] = facts
        if scenario["goal"]:
            first_states.setdefault(scenario["goal"], {**state, "scenario": scenario, "ordinal": 0})
    return list(first_states.values())[:limit]


def language_in(state: Planned) -> Language:
    """The language of what the user wants."""
    return language_of(goal_of(state["scenario"])) or "en"


def meeting(
    user: Speaker = "offline", assistant: Speaker = "offline", language: Language = "en", planted: bool = True
) -> Cast:
    """A user meets an assistant, and rates its satisfaction.

    `planted`: the assistant is one of `nodes.seeded_faults`, whose success is detected in a conversation about anything;
    otherwise a scenario without `success` goes by `agent_test`'s rule.
    """
    cast = agent_test.cast(user=user, assistant=assistant, language=language)
    success = heeded if planted else unless_the_scenario_says
    satisfaction = satisfaction_of(cast.nodes["user_simulator"], language)[1]
    return cast.replace(closing=scoring(success=success, satisfaction=satisfaction))


def rating(
    source: str | Sequence[Conversation] = "", judge: Any = "openai:gpt-4.1-mini", language: Language = "en"
) -> Cast:
    """A model rates satisfaction as the user of each stored conversation; no message is simulated.

    `source`: a path that `load` reads, or the conversations.
    """
    if isinstance(source, str):
        user, assistant = (ReplaySpeaker.of(source, role) for role in SPEAKER_OF)
    else:
        user, assistant = (ReplaySpeaker(role, "conversations", tuple(source)) for role in SPEAKER_OF)
    cast = agent_test.cast(user=user, assistant=assistant, language=language)
    return cast.replace(closing=scoring(satisfaction=by_model(judge, language=language)))


def rated_states(conversations: Sequence[Conversation], chosen: Sequence[int]) -> list[Planned]:
    """The scenarios of those of the conversations that are to be rated, by their places in the source."""
    numbers = ordinals(conversation.scenario for conversation in conversations)
    states: list[Planned] = []
    for place in chosen:
        named, details = named_of_user(conversations[place])
        details = {key: details[key] for key in ("task", "task_context", "profile") if key in details}
        extra = {USER_DETAILS: {**named, **details}}
        states.append({"scenario": conversations[place].scenario, "ordinal": numbers[place], "extra": extra})
    return states
