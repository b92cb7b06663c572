"""The plan of a cast's conversations, estimated without a call."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...data.executed_graph import SPEAKERS, VALIDATOR_OF
from ...data.formats import record_lines
from ...data.records import Role
from ...graphs import Cast
from ...graphs.casts.checks import check_scenarios
from ...nodes.calls.spending import PriceQuery, asked_model
from ...nodes.judges import ATTEMPTS, ModelJudge
from ...nodes.limits import Limits
from ...nodes.scorers.scores import scorers_of
from ...nodes.state import PLACES, Planned
from ...nodes.validators import models_of
from ..engine.conversing import planned
from .cast_calls import CastCalls
from .plans import CallPlan

REPLAYS = "the user is counted as if every replay left its record at the first answer: until then it is not called"


def conversations_planned(
    cast: Cast, scenarios: Iterable[Planned], folder: Path | None, limits: Limits, *, resume: bool = False
) -> CallPlan:
    """The plan of a run; with `resume` only of what the folder lacks.

    SettingError for a `success` that cannot be scored.
    """
    states = list(scenarios)
    check_scenarios(cast, states)
    states = missing(cast, states, folder, limits) if resume and folder is not None else states
    calls = CastCalls(cast, limits.or_else(cast.limits), tuple(states))
    turns, tries = calls.turns, calls.tries
    scored = sum(len(calls.scorers(state)) for state in states)
    judges: list[tuple[Role, ModelJudge]] = [
        (role, judge) for role, of_role in calls.judges.items() for judge in of_role
    ]
    asking = {place: node for place, node in cast.describe().items() if _asks(place, node)}
    counted = {place for place in SPEAKERS if place in asking and "model" in asking[place].settings}
    counted |= {VALIDATOR_OF[role] for role, _ in judges}
    counted |= {"closing"} if scored else set()
    return CallPlan(
        count=len(states),
        what="conversations",
        usual=sum(turns[role] for role in turns if tries[role]) + sum(turns[role] for role, _ in judges) + scored,
        most=sum(turns[role] * tries[role] for role in turns)
        + sum(turns[role] * (tries[role] or 1) * judge.attempts for role, judge in judges)
        + scored * ATTEMPTS,
        length="each of one turn" if calls.most_turns == 1 else f"each of up to {calls.most_turns} turns",
        calls_models=bool(asking) or scored > 0,
        estimated=lambda: calls.estimate(folder if resume else None),
        fewer=(REPLAYS,) if calls.replays else (),
        further=tuple(place for place in asking if place not in counted),
    )


def missing(cast: Cast, scenarios: Iterable[Planned], folder: Path, limits: Limits) -> list[Planned]:
    """The planned conversations that the folder has not, or has cut off at a lower limit of tokens."""
    done = set(_done(folder, limits.max_tokens))
    return [state for state in planned(cast, scenarios) if state.get("id") not in done]


def models_of_cast(cast: Cast) -> list[Any]:
    """Every chat model that a node or a scorer of the cast asks, in the graph's order."""
    nodes = [node for place in PLACES for node in scorers_of(cast.nodes[place])]
    return [model for node in nodes for model in models_of(node)]


def models_asked(cast: Cast) -> list[PriceQuery]:
    """The models of the cast that cost something to ask, each once."""
    queries = (asked_model(model) for model in models_of_cast(cast))
    return list(dict.fromkeys(query for query in queries if query is not None))


def asks_model(node: object) -> bool:
    """Whether a node asks a model that costs something."""
    return any(asked_model(model) is not None for model in models_of(node))


def own_callers(cast: Cast) -> list[str]:
    """The speakers that are neither chat models nor stored messages: what they call is their own matter."""
    nodes = {place: node for place, node in cast.describe().items() if place in SPEAKERS}
    return [place for place, node in nodes.items() if not node.stored and "model" not in node.settings]


def _done(folder: Path, max_tokens: int | None) -> Iterator[str]:
    """Ids of the folder's conversations, without those that a lower limit of tokens cut off."""
    reader = record_lines.found_in(folder)
    for conversation in reader.iterate() if reader.files() else ():
        limit = conversation.provenance.limits.get("max_tokens") if conversation.provenance else None
        raised = isinstance(limit, int) and (max_tokens is None or limit < max_tokens)
        if not (conversation.stop == "budget" and raised):
            yield conversation.id


def _asks(place: str, node: Any) -> bool:
    """Whether a node calls more than the offline model and stored messages.

    A speaker of unknown kind may.
    """
    if place in SPEAKERS and not node.stored and "model" not in node.settings:
        return True
    return _calls(node.settings)


def _calls(settings: Any) -> bool:
    """Whether a node's settings name a model that is not the offline one, or an agent."""
    if isinstance(settings, list):
        return any(map(_calls, settings))
    if not isinstance(settings, dict):
        return False
    model = settings.get("model")
    if isinstance(model, dict) and str(model.get("spec", "")).partition("?")[0] != "offline":
        return True
    return "agent" in settings or any(map(_calls, settings.values()))
