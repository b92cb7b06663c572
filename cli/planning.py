"""What a command is about to do, said before it does much: how many conversations, and about how many calls."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from ..data.formats import record_lines
from .output import say

Yes: TypeAlias = Annotated[bool, typer.Option("--yes", help="Do not ask before a large run; say only how large it is.")]

UNTOLD = 50
"""Most conversations, or profiles, that are made without a word about their number."""

SPEAKERS = ("user_simulator", "assistant")
"""Places whose calls are counted, one for each draft."""


@dataclass(frozen=True)
class Plan:
    """How much there is to do, and how many calls that takes."""

    count: int
    what: str
    """Of what, such as `conversations`."""
    usual: int
    """Calls if no draft is rejected and every conversation is as long as it may be."""
    most: int
    """Calls if every draft is rejected as often as may be."""
    each: str
    """How long each is, in words."""
    asked: bool
    """Whether a model, an agent or an endpoint is called, that is, more than the offline model and stored messages."""
    further: tuple[str, ...] = ()
    """What makes calls of its own, which are not counted."""

    @property
    def line(self) -> str:
        """The plan in one line."""
        calls = f"up to {self.usual:,} calls, and up to {self.most:,} if drafts are rejected"
        beside = f"; calls made by {' and '.join(self.further)} are not counted" if self.further else ""
        return f"{self.count:,} {self.what} planned, {self.each}: {calls}{beside}"


def go_on(plan: Plan, *, quiet: bool, yes: bool) -> None:
    """Say a large plan on stderr; at a terminal ask whether to go on, and end the command if not.

    It does not ask where the command is not at a terminal, `quiet` (its output is for a program) or told `yes`, nor
    where nothing is called.
    """
    if plan.count <= UNTOLD:
        return
    say(plan.line)
    if plan.asked and not quiet and not yes and at_terminal() and not typer.confirm("go on?", err=True):
        say("nothing was done; --yes does not ask, and fewer scenarios make fewer calls")
        raise typer.Exit(1)


def at_terminal() -> bool:
    """Whether somebody can be asked: both ends of the command are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def conversations_planned(cast: Any, scenarios: list[Any], folder: Path, limits: Any, *, resume: bool) -> Plan:
    """The plan of a run; with `resume` only of what the folder lacks."""
    from ..nodes.replay import ReplaySpeaker

    count = _missing(cast, scenarios, folder, limits) if resume else len(scenarios)
    limits = limits.or_else(cast.limits)
    tries = [
        attempts
        for node, attempts in (
            (cast.user_simulator, limits.question_attempts),
            (cast.assistant, limits.answer_attempts),
        )
        if not isinstance(node, ReplaySpeaker)
    ]
    exchanges = count * (limits.max_turns or 1)
    asking = {place: node for place, node in cast.describe().items() if _asks(place, node)}
    return Plan(
        count=count,
        what="conversations",
        usual=exchanges * len(tries),
        most=exchanges * sum(tries),
        each="each of one exchange" if limits.max_turns == 1 else f"each of up to {limits.max_turns} exchanges",
        asked=bool(asking),
        further=tuple(place for place, node in asking.items() if place not in SPEAKERS or "model" not in node.settings),
    )


def profiles_planned(count: int, attempts: int, rounds: int, *, asked: bool) -> Plan:
    """The plan of making so many profiles."""
    each = f"each asked for up to {attempts} times"
    return Plan(count, "profiles", count, count * attempts * rounds, each, asked)


def _missing(cast: Any, scenarios: list[Any], folder: Path, limits: Any) -> int:
    """How many of the planned conversations the folder has not, or has cut off at a lower limit of tokens."""
    from .. import runs

    done = set(_finished(folder, limits.max_tokens))
    return sum(state.get("id") not in done for state in runs.planned(cast, scenarios))


def _finished(folder: Path, max_tokens: int | None) -> Iterable[str]:
    reader = record_lines.found_in(folder)
    for conversation in reader.iterate() if reader.files() else ():
        limit = conversation.provenance.limits.get("max_tokens") if conversation.provenance else None
        raised = isinstance(limit, int) and (max_tokens is None or limit < max_tokens)
        if not (conversation.stop == "budget" and raised):
            yield conversation.id


def _asks(place: str, node: Any) -> bool:
    """Whether a node calls more than the offline model and stored messages. A speaker of unknown kind may."""
    if place in SPEAKERS and node.replays is None and "model" not in node.settings:
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
