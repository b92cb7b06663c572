"""The runs that measure the validity of simulated users: meetings with assistants, and ratings of stored conversations.

Each is an ordinary run with a folder of its own.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data import domains
from ..data.identity import digest
from ..data.people import of_part
from ..data.records import Conversation, as_object
from ..data.text.languages import Language
from ..graphs import Cast, agent_test, casts
from ..graphs.scenarios.sources import repeated
from ..graphs.validity import MEETING, RATING, contexts_of, errands, language_in, rated_states
from ..nodes.judges import satisfaction_of
from ..nodes.models.specs import parse_spec, use_of
from ..nodes.seeded_faults import PLANTED
from ..nodes.speakers.replay import replayed
from ..nodes.state import Planned
from .next_turn import folder_name

CONTEXTS = 16
"""Maximum of contexts of people for a retrieval-based user."""


@dataclass(frozen=True)
class ValidityRun:
    """One run: a cast and its scenarios."""

    user: str
    """Who is tried: the user, or the model that rates."""
    assistant: str
    """Name of the assistant that the user meets; empty where stored conversations are rated."""
    cast: Cast
    states: tuple[Planned, ...]
    place: str
    """Its folder below that of all."""
    scenarios: str = ""
    """Which scenarios, in words."""
    says_by: str = ""
    """How the user says its satisfaction."""


def meetings(
    users: Mapping[str, Any],
    assistants: Mapping[str, Any],
    *,
    scenarios: Path | None = None,
    limit: int | None = None,
    repeats: int = 2,
    seed: int = 0,
) -> list[ValidityRun]:
    """The runs in which each user meets each assistant about the same scenarios, a run for each language.

    Args:
        users: The users by name.
        assistants: The assistants by name.
        scenarios: A file, as for `duologue test`. Default: the shipped tasks; for a retrieval-based user, whose source
            lacks these, the contexts of its source's test split.
        limit: Number of scenarios, the first ones; None: all.
        repeats: Number of conversations about each scenario.
        seed: Seed of the runs.
    """
    planted = all(isinstance(spec, str) and spec in PLANTED.values() for spec in assistants.values())
    runs = []
    for user, speaker in users.items():
        if scenarios is not None:
            states = list(casts.scenarios_of(scenarios, agent_test.NAME, seed=seed, limit=limit).states)
            of = scenarios.name
        else:
            states, of = _states_for(speaker, limit)
        by_language: dict[Language, list[Planned]] = {}
        for state in states:
            by_language.setdefault(language_in(state), []).append(state)
        for name, spec in assistants.items():
            for language, group in by_language.items():
                cast = casts.find(MEETING)(user=speaker, assistant=spec, language=language, planted=planted)
                place = f"met/{folder_name(user)}/{folder_name(f'{name}-{language}')}"
                says_by = satisfaction_of(cast.nodes["user_simulator"], language)[0]
                runs.append(ValidityRun(user, name, cast, tuple(repeated(group, repeats)), place, of, says_by))
    return runs


def ratings(
    source: str | Sequence[Conversation],
    conversations: Sequence[Conversation],
    chosen: Sequence[int],
    judges: Mapping[str, Any],
) -> list[ValidityRun]:
    """The runs in which each model rates its satisfaction as the user of a stored conversation.

    `source`: the path of the conversations, or they themselves. `chosen`: the places of those that are rated.
    """
    spoken = Counter(domains.of(one).language(one) or "en" for one in (conversations[place] for place in chosen))
    language: Language = "zh" if spoken["zh"] > spoken["en"] else "en"
    states = tuple(rated_states(conversations, chosen))
    rating = casts.find(RATING)
    return [
        ValidityRun(
            name, "", rating(source=source, judge=judge, language=language), states, f"rated/{folder_name(name)}"
        )
        for name, judge in judges.items()
    ]


def models_among(users: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the users that a chat model plays: they rate stored conversations too."""
    return {
        name: speaker
        for name, speaker in users.items()
        if use_of(speaker) != "people"
        and satisfaction_of(agent_test.cast(user=speaker).nodes["user_simulator"])[0] == "model"
    }


def values_of(
    run: ValidityRun, conversations: Sequence[Conversation], chosen: Sequence[int], count: int
) -> tuple[list[float | None], list[str]]:
    """A model's rating of each of `count` conversations, None for a missing one; and the reasons for these."""
    by_key = {(digest(one.scenario), one.ordinal): one for one in conversations}
    values: list[float | None] = [None] * count
    reasons: list[str] = []
    for place, state in zip(chosen, run.states, strict=True):
        one = by_key.get((digest(state["scenario"]), state.get("ordinal", 0)))
        score = as_object(one.scores.get("satisfaction")) if one is not None else {}
        try:
            values[place] = float(score["value"])
        except (KeyError, TypeError, ValueError):
            failure = None if one is None or one.failure is None else one.failure.error
            reasons.append(str(score.get("error") or failure or "was not asked"))
    return values, reasons


def _states_for(speaker: Any, limit: int | None) -> tuple[list[Planned], str]:
    """The scenarios of a user where no file is given, and what they are."""
    if use_of(speaker) == "people":
        people = [one for one in replayed(Path(parse_spec(speaker)[1])).conversations if of_part(one, "test")]
        if states := contexts_of(people, limit or CONTEXTS):
            return states, "contexts of people"
    return errands()[: limit or None], "errands"
