"""The outcome of one conversation, only by its record: success, the reason, and the cause of a failure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..data import domains
from ..data.formats.messages import NO_RESULT
from ..data.identity import digest
from ..data.records import INTERRUPT, UNTOLD, Conversation, Failure, stop_in_words
from ..data.rules.user_faults import behaviour_names
from .faults import (
    NONE_ACCEPTED,
    NOT_APPROVED,
    SUCCESS,
    Cause,
    Whose,
    cause_of,
    rejected_because,
    success_score,
)

CUT_SHORT = "it was cut short"
"""Begin of the reason why a conversation has no score that did not come to its end."""
SCORE_FAILED = "the score 'success' failed"
"""Begin of the reason why a conversation has no score whose scorer failed."""
BY_GOODBYE = "unless_the_scenario_says"
"""Name of the scorer of the cast for agents, in records: it has no score for a scenario with a `success`."""
_LONGEST = 300
"""Longest line of a tool's error, in characters."""

Ending: TypeAlias = Literal["answered", "crashed", "silent", "timed out", "interrupted", "limit", "rejected"]
"""How the agent ended: it answered to the end, or why not."""
_OF_STOP: Mapping[str | None, Ending] = {
    "agent_timeout": "timed out",
    "agent_interrupted": "interrupted",
    "agent_limit": "limit",
    NONE_ACCEPTED: "rejected",
}


@dataclass(frozen=True)
class Outcome:
    """The outcome of one conversation."""

    id: str
    scenario: str
    success: bool | None
    """None if it has no score."""
    reason: str
    """The reason of the score, or of its absence."""
    fault: Whose = "none"
    """Whose fault it is that the conversation is no success; `none` of a success."""
    cause: Cause | None = None
    """None of a success, and of a conversation that was cut short."""
    frames: tuple[str, ...] = ()
    """The last places in one's own code that the error passed which ended it, or which took its score."""
    tool_errors: Mapping[str, str] = field(default_factory=dict)
    """As of `tool_errors`."""


def outcome(conversation: Conversation, ending: str = "") -> Outcome:
    """The outcome of a conversation, only by its record; without one if a limit cut it short.

    A crash of the agent is a failure. `ending`: as of `score_of`.
    """
    score = score_of(conversation, ending)
    success, reason = (None, score) if isinstance(score, str) else score
    if not success and (rejected := rejected_because(conversation)):
        reason = "; ".join(filter(None, (reason, f"{stop_in_words(NONE_ACCEPTED)}: {rejected}")))
    frames = _frames(conversation)
    cause = None
    fault: Whose = "none" if success else "infrastructure"
    if not success and not was_cut_short(conversation):
        cause = cause_of(conversation, frames)
        fault = cause.fault
    return Outcome(
        conversation.id,
        title_of(conversation),
        success,
        reason,
        fault,
        cause,
        frames,
        tool_errors(conversation),
    )


def title_of(conversation: Conversation) -> str:
    """What the scenario is about, in a few words, with the behaviours that were given to its user."""
    title = domains.of(conversation).title(conversation.scenario) or conversation.id
    names = behaviour_names(conversation.extra)
    return f"{title} ({', '.join(names)})" if names else title


def score_of(conversation: Conversation, ending: str = "") -> tuple[bool, str] | str:
    """Whether a conversation succeeded, and the score's reason; else a line on why it has no score.

    `ending`: why its run ended, in words; without them the reason is only that of the record.
    """
    if was_cut_short(conversation):
        return f"{CUT_SHORT}: {ending or stop_in_words(conversation.stop)}"
    failure = conversation.ending_failure
    if failure is not None and failure.fault == "assistant":
        return False, _failure_line(failure)
    if score := success_score(conversation):
        if isinstance(score.get("value"), bool):
            return score["value"], str(score.get("reason", ""))
        if score.get("error"):
            return f"{SCORE_FAILED}: {' '.join(str(score['error']).split())}"
        return f"the score 'success' is {score.get('value')!r}, not true or false"
    return "no scorer gave one" if failure is None else _failure_line(failure)


def ending_of(conversation: Conversation) -> Ending | None:
    """How the agent ended; None where a bound of the run, an endpoint or another node ended the conversation."""
    if was_cut_short(conversation):
        return None
    if (failure := conversation.ending_failure) is not None:
        if failure.fault != "assistant":
            return None
        return "silent" if failure.silent or failure.error.startswith("AnswerError:") else "crashed"
    return _OF_STOP.get(conversation.stop, "answered")


def teardown_warning(conversation: Conversation) -> str | None:
    """Why the world of a conversation that had ended could not be torn down; None if it could."""
    failure = conversation.failure
    if failure is None or conversation.ending_failure is not None:
        return None
    place = f" ({failure.frames[-1]})" if failure.frames else ""
    return " ".join(failure.error.split()).removeprefix("WorldError: ") + place


def is_scored_by_goodbye(conversation: Conversation) -> bool:
    """Whether the cast for agents scored it by the user's goodbye, since its scenario has no `success`."""
    provenance = conversation.provenance
    closing = provenance.nodes.get("closing") if provenance is not None else None
    scorers: Any = closing.settings.get("scorers") if closing is not None else None
    scorer = scorers.get(SUCCESS) if isinstance(scorers, dict) else None
    return SUCCESS not in conversation.scenario and isinstance(scorer, dict) and scorer.get("name") == BY_GOODBYE


def tool_errors(conversation: Conversation) -> dict[str, str]:
    """The first error's line of each tool of the agent that had one, rejected drafts included.

    A call that waits for the user, has no result or was not approved is not an error of its tool.
    """
    errors: dict[str, str] = {}
    for call in (call for draft in conversation.attempts("assistant") for call in draft.tool_calls):
        if call.error is None or call.waits or call.error == NO_RESULT or call.name == INTERRUPT:
            continue
        if not call.error.startswith(NOT_APPROVED):
            line = next((" ".join(line.split()) for line in call.error.splitlines() if line.strip()), "no text")
            errors.setdefault(call.name, line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…")
    return errors


def in_words(result: Outcome, stop: str | None) -> str:
    """Why a conversation is not a success, and how it ended where the reason does not say so: first, if by the agent."""
    reason, end = result.reason, stop_in_words(stop)
    if not reason:
        return end
    # What went wrong in a node is its failure's text: that a node failed says no more.
    says_all = reason.startswith(f"{CUT_SHORT}: ") or end in reason or stop == "model_failed" or end == UNTOLD
    return reason if says_all else f"{end}; {reason}" if stop in _OF_STOP else f"{reason}; {end}"


def details_of(result: Outcome) -> list[str]:
    """The places that its error passed, and the tools whose error its reason does not name, a line each."""
    errors = [f"a call of {name} ended in an error: {error}" for name, error in result.tool_errors.items()]
    named = [error not in result.reason for error in result.tool_errors.values()]
    return [
        *(f"at {frame}" for frame in result.frames),
        *(line for line, further in zip(errors, named, strict=True) if further),
    ]


def _frames(conversation: Conversation) -> tuple[str, ...]:
    if failure := conversation.ending_failure:  # where an endpoint is away, the code that called it is not at fault
        return () if failure.fault == "infrastructure" else failure.frames
    frames = success_score(conversation).get("frames")
    return tuple(map(str, frames)) if isinstance(frames, list | tuple) else ()


def scenario_key(conversation: Conversation) -> str:
    """Equal for conversations about the same scenario with the same kind of user.

    It is made of the scenario's content, its opening messages, and the behaviours given to its user. The `ordinal` of
    equal scenarios does not count: one that was given twice is simulated twice, and is one scenario.
    """
    return planned_key(conversation, "" if conversation.provenance is None else conversation.provenance.begun)


def content_key(conversation: Conversation) -> str:
    """Equal for conversations about the same scenario, also with other kinds of users."""
    return digest(conversation.scenario, "" if conversation.provenance is None else conversation.provenance.begun)


def planned_key(conversation: Conversation, begun: str) -> str:
    """The key of a scenario with a kind of user; `begun`: the digest of its opening messages."""
    return digest(conversation.scenario, begun, *behaviour_names(conversation.extra))


def was_begun(conversation: Conversation) -> bool:
    """Whether a conversation began: the record of a planned one that did not is `cancelled`, without a time."""
    return conversation.stop != "cancelled" or conversation.timing.started is not None


def was_cut_short(conversation: Conversation) -> bool:
    """Whether a bound of its run ended a conversation, or it was cancelled."""
    return conversation.stop in ("budget", "cancelled")


def _failure_line(failure: Failure) -> str:
    return f"{failure.node}: {' '.join(failure.error.split())}"
