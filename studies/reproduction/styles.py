"""The figures of the style filter: the wordy user of the examples and the published users, filtered by people's style."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from statistics import mean
from typing import TYPE_CHECKING, Any

from ...data.attempts import as_object
from ...data.identity import call_seed
from ...data.people.splits import of_part, user_of
from .claim import Claim, Measured, OpenData
from .printed import ROOT, of_table
from .realism import OPEN, PEOPLE, SIMULATED, ranked, simulated_on

if TYPE_CHECKING:
    from ...data import Conversation

PAGE = "docs/users/style_filter.md"
COLUMNS = ("first", "later", "accepted", "calls a turn", "taken at the limit", "mean distance")
MESSAGES = ("without filter", "4 calls", "17 calls", "people")
FILTERS = (
    (", --like, 4 calls", 4, True),
    (", --like, 9 calls", 9, True),
    (", --like, 17 calls", 17, True),
    (", --like without drafts, 4 calls", 4, False),
    (", --like without drafts, 17 calls", 17, False),
)
"""The filters that the page compares: name, calls of a turn, and whether the user's drafts are with_drafts."""
DRAWN_TURNS = 6


def _printed() -> Mapping[str, str]:
    of_messages = of_table(PAGE, ("messages of the wordy user", *MESSAGES), MESSAGES)
    return of_table(PAGE, ("user", *COLUMNS), COLUMNS) | of_messages


@contextmanager
def _wordy_user() -> Iterator[Any]:
    """The user of the checkout's examples."""
    path = str(ROOT / "examples")
    sys.path.insert(0, path)
    try:
        yield import_module("wordy_user").user
    finally:
        sys.path.remove(path)


def _drawing(published: "Sequence[Conversation]") -> Any:
    """A user whose drafts are drawn from all first, or later, messages of the published users, in Chinese."""
    from ...nodes.state import attempt_number

    turns = [
        [
            str(message.extra["content_zh"])
            for message in one.messages
            if message.role == "user" and "content_zh" in message.extra
        ]
        for one in published
    ]
    pools = [[turn[0] for turn in turns], [text for turn in turns for text in turn[1:]]]

    async def drawing(state: Any, runtime: Any) -> Any:
        attempt, pool = attempt_number(state), pools[state["turn"] > 0]
        draw = call_seed(runtime.context.seed, state["id"], "drawing", state["turn"], attempt)
        return {"drafts": [{"text": pool[draw % len(pool)]}]}

    return drawing


def _of_users(
    name: str, simulated: "Sequence[Conversation]", test: "Sequence[Conversation]", judge: Any
) -> dict[str, Any]:
    """The row of a table: distances in style, the acceptance of drafts, and the mean distance of the report."""
    from ...analysis.realism import compare

    drafts = [
        as_object(attempt.measured["like"]) for one in simulated for attempt in one.attempts("user") if attempt.measured
    ]
    turns = [
        message.attempts for one in simulated for message in one.messages if message.role == "user" and message.stored
    ]
    distances = [row.distance for row in ranked(compare(simulated, test, auc=False)) if row.distance is not None]
    row: dict[str, Any] = {**judge.distance(simulated), "mean distance": mean(distances)}
    if drafts:
        row["accepted"] = mean(float(str(like["draw"])) < float(str(like["accept"])) for like in drafts)
        row["calls a turn"] = mean(map(len, turns))
        row["taken at the limit"] = mean("bound" in as_object(attempts[-1].measured.get("like")) for attempts in turns)
    return {f"{name}: {column}": value for column, value in row.items()}


def _of_messages(column: str, simulated: "Sequence[Conversation]", test: "Sequence[Conversation]") -> dict[str, Any]:
    """Thanks and length of the wordy user's messages, and of people's."""
    from ...analysis.realism import compare

    rows = {row.name: row for row in compare(simulated, test, auc=False).measures}
    names = {"share with thanks": "thanks", "mean length, characters": "message length"}
    return {
        f"{title}: {column_}": getattr(rows[name], side)
        for title, name in names.items()
        for column_, side in ((column, "sim"), ("people", "human"))
    }


def _measured(data: OpenData, seed: int) -> Measured:
    from ...graphs import recllmsim
    from ...nodes.people.style import like

    people, published = data.load(PEOPLE), data.load(SIMULATED)
    tune, test = ([one for one in people if of_part(one, part)] for part in ("tune", "test"))
    judge = like(test, language="zh").manners
    values: dict[str, Any] = {
        f"people of the development split: {place}": distance for place, distance in judge.distance(tune).items()
    }
    with _wordy_user() as user:
        wordy = recllmsim.cast(user=user, language="zh")
    drawing = recllmsim.cast(language="zh").replace(user_simulator=_drawing(published))
    groups: tuple[tuple[str, Any, Sequence[Conversation], dict[str, Any]], ...] = (
        ("the wordy user", wordy, simulated_on(wordy, tune, seed), {}),
        ("published users, drawn", drawing, published, {"max_turns": DRAWN_TURNS}),
    )
    for name, cast, own, limits in groups:
        unfiltered = simulated_on(cast, test, seed, **limits)
        values |= _of_users(name, unfiltered, test, judge)
        values |= _of_messages("without filter", unfiltered, test) if cast is wordy else {}
        for how, calls, with_drafts in FILTERS:
            guard = like(
                people, cast.question_validator, language="zh", part="tune", drafts=own if with_drafts else None
            )
            guarded = cast.replace(question_validator=guard)
            simulated = simulated_on(guarded, test, seed, question_attempts=calls, **limits)
            values |= _of_users(name + how, simulated, test, judge)
            values |= _of_messages(f"{calls} calls", simulated, test) if cast is wordy and with_drafts else {}
    users = len({user_of(one) for one in test})
    return Measured(values, f"{users} users, {len(test)} conversations of people and of each simulated user")


CLAIMS = (
    Claim(
        "style-filter",
        "a wordy user and the published users, filtered by people's style",
        (PAGE,),
        10,
        OPEN,
        _printed,
        _measured,
    ),
)
