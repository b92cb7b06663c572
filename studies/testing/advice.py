"""Advice on the result of a test: what its cast offers against what the result shows."""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from ...analysis.testing.report import in_number
from ...analysis.testing.success import NO_SCORE, Successes
from ...graphs import Cast
from ...nodes.speakers.agents import AgentSpeaker
from ...nodes.validators import Observing


def advice_on(result: Successes, cast: Cast, settings: Collection[str]) -> Iterator[str]:
    """A line for each thing to do.

    `settings`: names of the settings that the cast takes, and that are not set.
    """
    counts = Counter(result.counts)
    if result.unscored > counts["error"]:
        yield f"no score: {NO_SCORE}"
    if own := counts["own limit"]:
        yield (
            f"{in_number(own)} reached the limit of tokens and so {'has' if own == 1 else 'have'}"
            " no score: a higher Limits(max_tokens=...) of the cast lets them end"
        )
    if counts["interrupted"]:
        yield from _on_approval(cast.nodes["assistant"], settings)
    if counts["timed out"]:
        yield "turn_timeout (--set turn_timeout=SECONDS) sets how long a turn of the agent may take"
    if isinstance(cast.answer_validator, Observing):
        return  # its drafts are measured as they are, and nothing is to be done about those that were sent
    if counts["sent although rejected"] and cast.when_rejected is None:
        option = "--set when_rejected=stop (in Python when_rejected='stop'), or " if "when_rejected" in settings else ""
        yield f"{option}`must=True` of a validator ends a conversation whose last attempt is rejected"
    if result.first_draft is not None:
        yield (
            "the share is that of the agent and its validator together: to measure it without a validator that "
            "production lacks, let that only observe (answer_validator=nodes.validators.Observing(VALIDATOR))"
        )


def _on_approval(assistant: Any, settings: Collection[str]) -> Iterator[str]:
    """How an agent that stops for an approval is answered, if nothing answers it."""
    if not isinstance(assistant, AgentSpeaker) or assistant.is_function:
        yield "--approve answers an agent that stops for an approval if it is given as a LangGraph graph with a checkpointer"
    elif assistant.approve is None:
        how = "--approve all|none|ask-user|MODULE:NAME (in Python approve=...)"
        if "approve" not in settings:
            how = "AgentSpeaker(AGENT, approve=...) in the cast, as --approve where a cast has this setting,"
        yield f"{how} answers an agent that stops for an approval"
