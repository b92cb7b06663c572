"""Asking a simulated user for its next turn at many moments of people's conversations.

The turns of a user are a run: of each moment a conversation that goes on with one turn.
"""

import re
from collections.abc import Iterable, Sequence

from ..data.identity import digest
from ..data.people import Moment, NextTurn, user_of
from ..data.records import Conversation
from ..data.tracing import untraced
from ..errors import DuologueError
from ..graphs import Cast
from ..graphs.single_turn import asking, cast_for, limits_of, next_turn, state_of
from ..nodes.limits import Limits
from ..nodes.people import PeopleSpeaker
from ..nodes.state import Planned
from .ask import Runs
from .engine import blocking
from .settings import RunSettings

RETRIEVED = "made from people"
"""What retrieval-based users are called beside others."""
FEWEST_USERS = 20
"""People that retrieval-based users need."""
MOST_REMEMBERED = 600
"""Maximum of conversations whose words they have."""


def turns_run(cast: Cast, moments: Iterable[Moment], seed: int = 0) -> tuple[Cast, list[Planned], Limits]:
    """The run in which the cast's user is asked for its next turn at each moment where it can be asked."""
    states = [state for moment in moments if (state := state_of(moment, cast.name)) is not None]
    return asking(cast), states, limits_of(cast, seed=seed)


def turns_in(cast: Cast, moments: Iterable[Moment], conversations: Sequence[Conversation]) -> list[NextTurn]:
    """The turns of a user by the conversations of `turns_run`; one that failed or was cut off has the reason (`failure`)."""
    # Its user ends where the conversation ended that it goes on with: no message before the moment shows which that is.
    leaves = not isinstance(cast.nodes["user_simulator"], PeopleSpeaker)
    asked = [moment for moment in moments if state_of(moment, cast.name) is not None]
    return [next_turn(moment, one, leaves=leaves) for moment, one in zip(asked, conversations, strict=True)]


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
        with untraced():
            run = Runs({RETRIEVED: turns_run(user_cast, moments, seed)})
            talks = blocking(run.conversations(RunSettings(progress=False)))
            return turns_in(user_cast, moments, talks[RETRIEVED]), []
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
