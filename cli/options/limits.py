"""Options for the limits of each conversation, for every command that simulates."""

from typing import Annotated, Any

from . import sections
from .durations import seconds
from .shared import option, seed_of

_MAXIMA = {
    "max_turns": "turns (a user's message and its answer). Default: the cast's own number, or that of the replayed "
    "conversations.",
    "question_attempts": "calls for a turn of the user, the first included. Default: the cast's.",
    "answer_attempts": "calls for a turn of the assistant, the first included. Default: the cast's.",
}


def _limit(help: str) -> Any:
    return option(f"Set the maximum number of {help}", section=sections.LIMITS, min=1, metavar="N")


LIMITS: dict[str, tuple[Any, Any]] = {
    "seed": (Annotated[int, seed_of("the run", sections.LIMITS)], 0),
    **{name: (Annotated[int | None, _limit(help)], None) for name, help in _MAXIMA.items()},
    "turn_timeout": (
        Annotated[
            float | None,
            option(
                "End a conversation when a turn of an agent takes longer: 45s, 10m. Default: 10m.",
                section=sections.LIMITS,
                parser=seconds,
                metavar="DURATION",
                show_default=False,
            ),
        ],
        None,
    ),
}
"""Options for the limits of each conversation; those that are None are the cast's (`limits_with`)."""

RECORDED_LIMITS: dict[str, tuple[Any, Any]] = {
    **LIMITS,
    "seed": (Annotated[int | None, seed_of("the run. Default: that of the stored run", sections.LIMITS)], None),
    **{
        name: (
            Annotated[int | None, _limit(f"{help.partition(' Default:')[0]} Default: that of the stored run.")],
            None,
        )
        for name, help in _MAXIMA.items()
    },
}
"""As `LIMITS`, for commands that go on from stored conversations: those that are None are their own."""
