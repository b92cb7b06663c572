"""Asking a simulated user for its next turn at many moments of people's conversations.

The turns of a user are a run: of each moment a conversation that goes on with one turn.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..data.behaviours import KEY as BEHAVIOURS
from ..data.identity import digest
from ..data.people import Moment, NextTurn, user_of
from ..data.records import Conversation
from ..data.tracing import untraced
from ..errors import DuologueError
from ..graphs import Cast
from ..graphs.single_turn import asking, cast_for, limits_of, next_turn, state_of
from ..nodes.calls.gate import EndpointError
from ..nodes.people import PeopleSpeaker
from ..nodes.settings.redaction import error_line
from ..nodes.state import Planned
from .ask import runs_planned, simulated
from .loop import blocking
from .plan import CallPlan
from .settings import RunSettings

RETRIEVED = "made from people"
"""What retrieval-based users are called beside others."""
FEWEST_USERS = 20
"""People that retrieval-based users need."""
MOST_REMEMBERED = 600
"""Maximum of conversations whose words they have."""


async def next_turns(
    cast: Cast,
    moments: Iterable[Moment],
    settings: RunSettings | None = None,
    *,
    attempts: int | None = None,
    behaviours: Sequence[str] = (),
) -> list[NextTurn]:
    """The user's next turn at each moment where it can be asked, in the order of the moments.

    Args:
        cast: The cast whose user is asked.
        moments: The moments of people's conversations.
        settings: Seed, pace and bounds. With `out`, a run folder, only the turns are asked for that it lacks.
        attempts: Maximum number of calls for a turn, rejected drafts included; default: the cast's.
        behaviours: Behaviours of the user at every moment.

    Returns:
        The turns. One that failed, or that a bound cut off, has the reason (`failure`).

    Raises:
        RunError: The folder has turns at other moments, or of another user.
    """
    settings = settings or RunSettings()
    asking_cast, limits = asking(cast), limits_of(cast, seed=settings.seed or 0, attempts=attempts)
    asked = [(moment, state) for moment in moments if (state := state_of(moment, cast.name)) is not None]
    states = [_with_behaviours(state, behaviours) for _, state in asked]
    # Its user ends where the conversation ended that it goes on with: no message before the moment shows which that is.
    leaves = not isinstance(asking_cast.nodes["user_simulator"], PeopleSpeaker)
    try:
        conversations = await simulated(asking_cast, states, lambda one: one, settings, limits=limits)
    except EndpointError as error:  # other users are asked all the same
        why = error_line(error)
        return [NextTurn(id="", key=moment.key, stop="cancelled", failure=why) for moment, _ in asked]
    return [
        next_turn(moment, conversation, leaves=leaves)
        for (moment, _), conversation in zip(asked, conversations, strict=True)
    ]


def turns_planned(works: dict[str, tuple[Cast, Path | None]], moments: Sequence[Moment], *, seed: int = 0) -> CallPlan:
    """The plan of `next_turns` for casts and folders by name."""
    runs = {
        name: (
            asking(cast),
            [state for moment in moments if (state := state_of(moment, cast.name)) is not None],
            limits_of(cast, seed=seed),
            folder,
        )
        for name, (cast, folder) in works.items()
    }
    return runs_planned(runs, "turns", "each one turn of a user")


def said_from_people(
    moments: Sequence[Moment], people: Sequence[Conversation], cast: str | None = None, *, seed: int = 0
) -> tuple[list[NextTurn] | None, list[str]]:
    """The turns of retrieval-based users at each moment, and notes; None with the reason if not possible.

    Nothing comes from a conversation of the person who is asked about. `cast`: as for `graphs.single_turn.cast_for`.
    """
    none = f"{RETRIEVED}: no such row, because"
    if (users := len({user_of(one) for one in people})) < FEWEST_USERS:
        return None, [f"{none} there are {users} users, and it needs {FEWEST_USERS}."]
    try:
        user = PeopleSpeaker.of(_remembered(people, seed), "user")
        user_cast = cast_for(moments, user, cast)
        if lacking := sum(state_of(moment, user_cast.name) is None for moment in moments):
            where = f"at {lacking} of {len(moments)} places nothing before them states what the user wants"
            return None, [f"{none} {where}."]
        with untraced():
            return blocking(next_turns(user_cast, moments, RunSettings(seed=seed, progress=False))), []
    except DuologueError as error:
        return None, [f"{none} {error}"]


def _remembered(people: Sequence[Conversation], seed: int) -> list[Conversation]:
    """The conversations that words are drawn from, in the source's order."""
    order = sorted(range(len(people)), key=lambda place: digest("remembered", seed, people[place].id, place))
    return [people[place] for place in sorted(order[:MOST_REMEMBERED])]


def folder_name(user: str) -> str:
    """The name of a user's folder: the readable part of its model identifier, and a digest of all of it.

    >>> folder_name("offline")
    'offline-65482f01'
    """
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", user)[:60].strip("._-")
    return f"{readable or 'user'}-{digest('user', user)[:8]}"


def _with_behaviours(state: Planned, behaviours: Sequence[str]) -> Planned:
    extra: dict[str, Any] = {BEHAVIOURS: list(behaviours)} if behaviours else {}
    return {**state, "extra": {**state.get("extra", {}), **extra}}
