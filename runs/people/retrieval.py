"""Retrieval-based users as a baseline, each with the words of the other split of the people.

No model is called.

The scenarios are those of stored conversations of people. On scenarios of the test split the messages come from the
development split, and the other way round.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ...data import domains
from ...data.formats.messages import further
from ...data.identity import digest
from ...data.next_turns import Moment, NextTurn
from ...data.people import STORED, UserPart, of_part, user_of
from ...data.records import Conversation
from ...data.scenarios import of_log
from ...data.text.languages import Language
from ...data.tracing import untraced
from ...errors import DuologueError
from ...graphs import Cast, agent_test, casts
from ...graphs.single_turn import cast_for, state_of
from ...nodes.limits import Limits
from ...nodes.people import PeopleSpeaker
from ...nodes.recllmsim import goal_of
from ...nodes.scorers.success import KEY as SUCCESS
from ...nodes.state import Planned
from ..engine.conduct import Conduct
from ..simulation import simulate
from .next_turn import next_turns

NAME = "made from people"
"""What such users are called beside others."""
FEWEST_USERS = 20
"""Users that each half of the people needs for a baseline."""
MOST = 100
"""Maximum of simulated conversations."""
MOST_REMEMBERED = 300
"""Maximum of source conversations of a half."""
FEWEST_REPLIES = 10
"""Conversations of an assistant that its replies are drawn from; with fewer they come from all assistants."""

OTHER: dict[UserPart, UserPart] = {"tune": "test", "test": "tune"}
USER_KEYS = ("goal", "facts", "persona")
"""Fields of a log line about what its user wants and knows."""

AssistantOf = Callable[[Conversation], str]
"""Who answered in a stored conversation, by name; empty if unknown."""


@dataclass(frozen=True)
class FromPeople:
    """Conversations of retrieval-based users, with notes for the reader."""

    conversations: tuple[Conversation, ...] | None
    """None if no baseline can be made; the note gives the reason."""
    notes: tuple[str, ...] = ()


def from_people(
    people: Sequence[Conversation],
    part: UserPart = "all",
    *,
    seed: int = 0,
    most: int = MOST,
    answered: AssistantOf | None = None,
    tell: Callable[[int], None] | None = None,
) -> FromPeople:
    """Simulate retrieval-based users on the scenarios of `part`, each with words of the other split.

    - `part`: whose scenarios. Of `all`, each split speaks with the words of the other; of a part of a split, with those
      of the other split.
    - `most`: conversations at most; of more, those are taken that come first by a digest of seed and conversation.
    - `answered`: who answered in a stored conversation. Where it is known, the replies are those of the same assistant,
      as long as the split has 10 conversations with it. `labels["chat_model"]` then names it.
    - `tell` is called with their number before the first is simulated.

    No error where there cannot be any: fewer than 20 users in a half, no scenario, a speaker that has nothing to say.
    """
    spoken = Counter(_language(one) for one in people)
    language: Language = "zh" if spoken["zh"] > spoken["en"] else "en"
    pairs = [(one, scenario) for one in people if _language(one) == language and (scenario := _scenario(one))]
    halves: dict[UserPart, list[Conversation]] = {
        half: [one for one, _ in pairs if of_part(one, half)] for half in OTHER
    }
    fewest = min(len({user_of(one) for one in half}) for half in halves.values())
    if fewest < FEWEST_USERS:
        return FromPeople(None, (_why_not(people, pairs, fewest),))
    candidates = [(one, scenario) for one, scenario in pairs if of_part(one, part)]
    candidates.sort(key=lambda pair: digest("from people", seed, pair[0].id, pair[0].extra.get("path")))
    drawn = candidates[:most]
    if tell is not None:
        tell(len(drawn))
    conversations: list[Conversation] = []
    try:
        for half, other in OTHER.items():
            own = [(one, scenario) for one, scenario in drawn if of_part(one, half)]
            conversations += _simulated(own, _remembered(halves[other], seed), language, seed, answered)
    except DuologueError as error:
        return FromPeople(None, (f"Made from people: none, as {error}",))
    finished = tuple(one for one in conversations if one.failure is None and one.messages)
    notes = [_origin(part, len(drawn), len(candidates))]
    if lost := len(conversations) - len(finished):
        notes.append(
            f"Made from people: {lost} of {len(conversations)} conversations could not be simulated: left out."
        )
    return FromPeople(finished or None, tuple(notes))


def _origin(part: UserPart, drawn: int, of: int) -> str:
    count = f"{drawn} conversations" if drawn == of else f"{drawn} conversations, drawn by the seed,"
    what = f"Retrieval-based users: {count} on these people's scenarios, in the words of"
    if part != "all":
        return f"{what} the {'development' if part == 'test' else 'test'} split."
    return (
        f"{what} the other split. Their authors are among the people compared, so distances are smaller than with "
        "--part test."
    )


def _why_not(people: Sequence[Conversation], pairs: Sequence[Any], fewest: int) -> str:
    if 2 * len(pairs) < len(people):
        why = f"{len(people) - len(pairs)} of {len(people)} conversations do not state what their user wants"
    else:
        why = f"a split of the people has {fewest} users, and it needs {FEWEST_USERS}"
    return f"Retrieval-based users: none as a baseline, because {why}."


def _language(conversation: Conversation) -> Language:
    return domains.of(conversation).language(conversation) or "en"


def _scenario(conversation: Conversation) -> dict[str, Any] | None:
    """The scenario as a cast takes it, without a judge of its end; None without a goal."""
    scenario = {key: value for key, value in conversation.scenario.items() if key != SUCCESS}
    if str(scenario.get("kind", "")) in casts.registered():
        return scenario
    of_line, _ = of_log(conversation, further(conversation))
    # The task too: users of a task are compared with people of the same one.
    scenario |= {key: of_line[key] for key in (*USER_KEYS, "task") if key in of_line and key not in scenario}
    goal = goal_of(scenario) or scenario.get("task_context") or scenario.get("task")
    return {**scenario, "goal": str(goal)} if goal else None


def _remembered(half: Sequence[Conversation], seed: int, most: int = MOST_REMEMBERED) -> list[Conversation]:
    """The conversations that words are drawn from, in the source's order."""
    if len(half) <= most:
        return list(half)
    order = sorted(range(len(half)), key=lambda place: digest("remembered", seed, half[place].id, place))
    return [half[place] for place in sorted(order[:most])]


def _simulated(
    pairs: Sequence[tuple[Conversation, dict[str, Any]]],
    remembered: Sequence[Conversation],
    language: Language,
    seed: int,
    answered: AssistantOf | None,
) -> list[Conversation]:
    """The conversations on these scenarios, in the words of those that are remembered."""
    if not pairs:
        return []
    user = PeopleSpeaker.of(remembered, "user")
    replies: dict[str, list[Conversation]] = defaultdict(list)
    groups: dict[tuple[str, str], list[Planned]] = defaultdict(list)
    for one in remembered if answered is not None else ():
        replies[answered(one) if answered is not None else ""].append(one)
    for one, scenario in pairs:
        name = answered(one) if answered is not None else ""
        named = name if len(replies[name]) >= FEWEST_REPLIES else ""
        stored = {"id": one.id, "scenario": digest(one.scenario), "user": user_of(one)}
        state: Planned = {"scenario": scenario, "ordinal": len(groups[_cast_of(scenario), named]), "repeat": 0}
        groups[_cast_of(scenario), named].append({**state, "extra": {STORED: stored, "user": stored["user"]}})
    assistants = {
        named: PeopleSpeaker.of(replies[named] if named else remembered, "assistant")
        for named in sorted({named for _, named in groups})
    }
    simulated_groups = (
        _with_assistant(_run(_cast(cast, user, assistants[named], language), states, seed), named)
        for (cast, named), states in groups.items()
    )
    return list(chain.from_iterable(simulated_groups))


def _cast_of(scenario: dict[str, Any]) -> str:
    kind = str(scenario.get("kind", ""))
    return kind if kind in casts.registered() else agent_test.NAME


def _cast(name: str, user: PeopleSpeaker, assistant: PeopleSpeaker, language: Language) -> Cast:
    factory = casts.find(name)
    settings: dict[str, Any] = {"language": language} if "language" in factory.settings.model_fields else {}
    return factory(user=user, assistant=assistant, **settings)


def _run(cast: Cast, states: Sequence[Planned], seed: int) -> list[Conversation]:
    silent = logging.getLogger("duologue.runs.simulation")
    level = silent.level
    silent.setLevel(logging.ERROR)  # what could not be simulated is a note
    try:
        with untraced():
            return simulate(cast, states, limits=Limits(seed=seed), conduct=Conduct())
    finally:
        silent.setLevel(level)


def _with_assistant(conversations: Sequence[Conversation], name: str) -> list[Conversation]:
    if not name:
        return list(conversations)
    return [one.model_copy(update={"labels": {**one.labels, "chat_model": name}}) for one in conversations]


def said_from_people(
    moments: Sequence[Moment],
    people: Sequence[Conversation],
    cast: str | None = None,
    *,
    seed: int = 0,
    tell: Callable[[int], None] | None = None,
) -> tuple[list[NextTurn] | None, list[str]]:
    """The turns of retrieval-based users at each moment, and notes; None with the reason if not possible.

    Nothing comes from a conversation of the person who is asked about. `cast`: as for `graphs.single_turn.cast_for`;
    `tell` is told at how many moments they are asked before any is.
    """
    none = f"{NAME}: no such row, because"
    if (users := len({user_of(one) for one in people})) < FEWEST_USERS:
        return None, [f"{none} there are {users} users, and it needs {FEWEST_USERS}."]
    try:
        user_cast = cast_for(moments, PeopleSpeaker.of(_remembered(people, seed, 2 * MOST_REMEMBERED), "user"), cast)
        if lacking := sum(state_of(moment, user_cast.name) is None for moment in moments):
            return None, [
                f"{none} at {lacking} of {len(moments)} places nothing before them states what the user wants."
            ]
        if tell is not None:
            tell(len(moments))
        with untraced():
            return next_turns(user_cast, moments, seed=seed), []
    except DuologueError as error:
        return None, [f"{none} {error}"]
