"""The outcome of one conversation, only by its record: success, reason, and the fault of a failure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..data import domains
from ..data.formats.messages import NO_RESULT
from ..data.identity import digest
from ..data.labels.reading import SCORES
from ..data.records import INTERRUPT, TURN_TIMEOUT, Conversation, Failure, Fault, stop_in_words
from ..data.rules.user_faults import behaviour_names
from .user_faults import first_fault

SUCCESS = "success"

CUT_SHORT = "it was cut short"
"""Begin of the reason why a conversation has no score that did not come to its end."""
SCORE_FAILED = "the score 'success' failed"
"""Begin of the reason why a conversation has no score whose scorer failed."""
Crashes: TypeAlias = Literal["failure", "unscored"]
"""What a conversation counts as in which the agent crashed, or answered nothing."""
_SILENCE = re.compile(r"none of \d+ replies had a text")
"""Begin of the error of an agent without an answer, as a conversation's graph records it."""
_NO_MESSAGE = "AnswerError: the function"
"""Beginning of the error of a function that returned something other than a message."""
TIMED_OUT, INTERRUPTED, AT_ITS_LIMIT = "agent_timeout", "agent_interrupted", "agent_limit"
NONE_ACCEPTED = "assistant_rejected"
"""Stop reasons of an agent that did not answer to the end."""
BY_GOODBYE = "unless_the_scenario_says"
"""Name of the scorer of the cast for agents, in records: it has no score for a scenario with a `success`."""
_NOT_APPROVED = "User rejected the tool call for "
"""Begin of the error that LangChain's `HumanInTheLoopMiddleware` records of a call that was not approved."""
_LONGEST = 300
"""Longest line of a tool's error, in characters."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one conversation."""

    id: str
    scenario: str
    success: bool | None
    """None if it has no score."""
    reason: str
    """The reason of the score, or of its absence."""
    fault: Fault
    """The fault of a conversation that is not a success, also if a limit or a signal cut it short; else `none`."""
    user_fault: str | None
    """The rule by which the user simulator is at fault; None if it is not."""
    user_fault_at: int | None = None
    """Number of the message in which the user simulator is at fault; None if it is not, or before any message."""
    user_fault_reason: str = ""
    """What the rule found, in words; empty without a fault."""
    frames: tuple[str, ...] = ()
    """The last places in one's own code that the error passed which ended it, or which took its score."""
    tool_errors: Mapping[str, str] = field(default_factory=dict)
    """As of `tool_errors`."""


def outcome(conversation: Conversation, crashes: Crashes = "unscored", ending: str = "") -> Outcome:
    """The outcome of a conversation, only by its record; without one if a limit cut it short.

    `crashes`: what a crash of the agent counts as, which is the assistant's fault either way. `ending`: as of
    `score_of`.
    """
    score = score_of(conversation, crashes, ending)
    broken = first_fault(conversation)
    success, reason = (None, score) if isinstance(score, str) else score
    if not success and (rejected := rejected_because(conversation)):
        reason = "; ".join(filter(None, (reason, f"{stop_in_words(NONE_ACCEPTED)}: {rejected}")))
    fault: Fault = "none"
    if agent_failed(conversation):
        fault = "user" if broken else "assistant"
    elif success is None:
        failure = conversation.ending_failure
        whose = conversation.fault if failure is None or failure.fault != "user" else "user"
        fault = whose if whose not in (None, "none") else "infrastructure"
    elif not success:
        # A user that gives up, or goes without what it came for, leaves with what the assistant made of the talk.
        fault = conversation.fault if conversation.fault not in (None, "none") else "assistant"
        fault = "user" if broken else fault
    return Outcome(
        conversation.id,
        title_of(conversation),
        success,
        reason,
        fault,
        None if broken is None else broken.rule,
        None if broken is None or broken.message < 0 else broken.message,
        "" if broken is None else broken.reason,
        _frames(conversation),
        tool_errors(conversation),
    )


def title_of(conversation: Conversation) -> str:
    """What the scenario is about, in a few words, with the behaviours that were given to its user."""
    title = domains.of(conversation).title(conversation.scenario) or conversation.id
    names = behaviour_names(conversation.extra)
    return f"{title} ({', '.join(names)})" if names else title


def score_of(conversation: Conversation, crashes: Crashes = "unscored", ending: str = "") -> tuple[bool, str] | str:
    """Whether a conversation succeeded, and the score's reason; else a line on why it has no score.

    `ending`: why its run ended, in words; without them the reason is only that of the record.
    """
    if was_cut_short(conversation):
        if at_own_limit(conversation):
            return f"{CUT_SHORT}: {stop_in_words(conversation.stop)} (its own: --max-tokens)"
        return f"{CUT_SHORT}: {ending or stop_in_words(conversation.stop)}"
    failure = conversation.ending_failure
    if crashes == "failure" and failure is not None and agent_failed(conversation):
        return False, _failure_line(failure)
    if (score := _success_score(conversation)) is not None:
        if isinstance(score.get("value"), bool):
            return score["value"], str(score.get("reason", ""))
        if score.get("error"):
            return f"{SCORE_FAILED}: {' '.join(str(score['error']).split())}"
        return f"the score 'success' is {score.get('value')!r}, not true or false"
    if failure is not None:
        return _failure_line(failure)
    return "no scorer gave one"


def agent_failed(conversation: Conversation) -> bool:
    """Whether a crash of the agent's own code ended a conversation, or that it answered nothing at all its attempts."""
    failure = conversation.failure
    return failure is not None and failure.fault == "assistant" and not was_cut_short(conversation)


def fell_silent(conversation: Conversation) -> bool:
    """Whether the agent answered nothing at all its attempts."""
    failure = conversation.failure
    return agent_failed(conversation) and failure is not None and _SILENCE.match(failure.error) is not None


def gave_no_message(conversation: Conversation) -> bool:
    """Whether a function under test answered with something that is not a message."""
    failure = conversation.failure
    return agent_failed(conversation) and failure is not None and failure.error.startswith(_NO_MESSAGE)


def turn_limit(conversation: Conversation) -> float | None:
    """The most seconds that a turn of the agent may take; None where the record lacks it."""
    if (provenance := conversation.provenance) is None:
        return None
    own = provenance.nodes["assistant"].settings if "assistant" in provenance.nodes else {}
    seconds = own.get("turn_timeout") or provenance.limits.get("turn_timeout") or TURN_TIMEOUT
    return float(seconds) if isinstance(seconds, int | float) else None


def answered(conversation: Conversation) -> bool | None:
    """Whether the agent answered to the end.

    None where a bound of the run, an endpoint or another node ended the conversation.
    """
    if agent_failed(conversation) or conversation.stop in (TIMED_OUT, INTERRUPTED, AT_ITS_LIMIT, NONE_ACCEPTED):
        return False
    return None if was_cut_short(conversation) or conversation.ending_failure is not None else True


def rejected_because(conversation: Conversation) -> str | None:
    """The validator's reasons where a conversation ended because no reply was accepted; else None."""
    if conversation.stop != NONE_ACCEPTED:
        return None
    turn = next((turn for turn in reversed(conversation.unsaid) if turn.role == "assistant"), None)
    reasons = (attempt.reason for attempt in (turn.attempts if turn is not None else ()))
    return ", ".join(dict.fromkeys(filter(None, reasons))) or "no reason is recorded"


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
        if not call.error.startswith(_NOT_APPROVED):
            line = next((" ".join(line.split()) for line in call.error.splitlines() if line.strip()), "no text")
            errors.setdefault(call.name, line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…")
    return errors


def tool_error_lines(errors: Mapping[str, str], reason: str = "") -> list[str]:
    """A line for each tool whose error the reason of a conversation's score does not name."""
    return [f"a call of {name} ended in an error: {error}" for name, error in errors.items() if error not in reason]


def _frames(conversation: Conversation) -> tuple[str, ...]:
    if failure := conversation.ending_failure:  # where an endpoint is away, the code that called it is not at fault
        return () if failure.fault == "infrastructure" else failure.frames
    frames = (_success_score(conversation) or {}).get("frames")
    return tuple(map(str, frames)) if isinstance(frames, list | tuple) else ()


def _success_score(conversation: Conversation) -> dict[str, Any] | None:
    scores: Any = conversation.labels.get(SCORES)
    score = scores.get(SUCCESS) if isinstance(scores, dict) else None
    return score if isinstance(score, dict) else None


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
    """Whether a bound of its run or its own limit of tokens ended a conversation, or it was cancelled."""
    return conversation.stop in ("budget", "cancelled")


def at_own_limit(conversation: Conversation) -> bool:
    """Whether a conversation ended at its own limit of tokens, and not at a bound of its run."""
    return conversation.stop == "budget" and not conversation.cut_by_run


def _failure_line(failure: Failure) -> str:
    return f"{failure.node}: {' '.join(failure.error.split())}"
