"""The plan of a command, printed before it starts: the number of conversations, and about how many calls."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ...data.formats import record_lines
from ..options.run import RunOptions
from ..streams import print_json, put, say
from .costs import CallCosts
from .estimates import CostEstimate, estimate

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from langchain_core.language_models import BaseChatModel

    from ...nodes.calls.prices import PriceQuery

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
    length: str
    """How long each is, in words."""
    calls_models: bool
    """Whether a model, an agent or an endpoint is called, that is, more than the offline model and stored messages."""
    further: tuple[str, ...] = ()
    """What makes calls of its own, which are not counted."""
    again: str = "drafts are rejected"
    """Why a call is made again."""

    @property
    def line(self) -> str:
        """The plan in one line."""
        calls = f"up to {self.usual:,} calls, and up to {self.most:,} if {self.again}"
        beside = f"; calls made by {' and '.join(self.further)} are not counted" if self.further else ""
        what = self.what.removesuffix("s") if self.count == 1 else self.what
        return f"{self.count:,} {what} planned, {self.length}: {calls}{beside}"


def go_on(plan: Plan, *, quiet: bool, yes: bool) -> None:
    """Print a large plan on stderr; at a terminal ask whether to go on, and end the command if not.

    It does not ask where the command is not at a terminal, `quiet` (its output is for a program) or told `yes`, nor
    where nothing is called.
    """
    if plan.count <= UNTOLD:
        return
    say(plan.line)
    if plan.calls_models and not quiet and not yes and at_terminal() and not typer.confirm("go on?", err=True):
        say("nothing was done; --yes does not ask, and fewer scenarios make fewer calls")
        raise typer.Exit(1)


def at_terminal() -> bool:
    """Whether the command can ask: its input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def conversations_planned(cast: Any, scenarios: list[Any], folder: Path, limits: Any, *, resume: bool) -> Plan:
    """The plan of a run; with `resume` only of what the folder lacks."""
    from ...graphs.casts.assembling import says_stored

    count = len(missing(cast, scenarios, folder, limits)) if resume else len(scenarios)
    limits = limits.or_else(cast.limits)
    tries = [
        attempts
        for node, attempts in (
            (cast.user_simulator, limits.question_attempts),
            (cast.assistant, limits.answer_attempts),
        )
        if not says_stored(node)
    ]
    exchanges = count * (limits.max_turns or 1)
    asking = {place: node for place, node in cast.describe().items() if _asks(place, node)}
    return Plan(
        count=count,
        what="conversations",
        usual=exchanges * len(tries),
        most=exchanges * sum(tries),
        length="each of one turn" if limits.max_turns == 1 else f"each of up to {limits.max_turns} turns",
        calls_models=bool(asking),
        further=tuple(place for place, node in asking.items() if place not in SPEAKERS or "model" not in node.settings),
    )


def profiles_planned(count: int, attempts: int, rounds: int, *, calls_models: bool) -> Plan:
    """The plan of making so many profiles."""
    duration = f"each asked for up to {attempts} times"
    return Plan(count, "profiles", count, count * attempts * rounds, duration, calls_models)


def missing(cast: Any, scenarios: list[Any], folder: Path, limits: Any) -> list[Any]:
    """The planned conversations that the folder has not, or has cut off at a lower limit of tokens."""
    from ... import runs

    done = set(_finished(folder, limits.max_tokens))
    return [state for state in runs.planned(cast, scenarios) if state.get("id") not in done]


def tell_plan(cast: Any, scenarios: list[Any], folder: Path, limits: Any, options: RunOptions) -> int:
    """Print the size of a run: conversations, calls, tokens and cost.

    Nothing is called. Gives the exit code.
    """
    from ...graphs.casts.success_checks import check_success

    check_success(cast, scenarios)
    plan = conversations_planned(cast, scenarios, folder, limits, resume=options.resume)
    left = missing(cast, scenarios, folder, limits) if options.resume else scenarios
    about = estimate(cast, left, folder, limits, resume=options.resume)
    about = about.within(options.max_run_tokens, options.max_cost)
    if options.as_json:
        print_json(
            {
                "conversations": plan.count,
                "calls": {"usual": plan.usual, "most": plan.most},
                "tokens": dict(zip(("low", "about", "high"), about.tokens, strict=True)),
                "cost": None if about.cost is None else dict(zip(("low", "about", "high"), about.cost, strict=True)),
                "cost_unknown": about.unknown,
                "not_counted": list(plan.further),
                "rule": about.rule,
                "assumed": about.assumed,
            }
        )
        return 0
    put(plan.line)
    low, middle, high = map(_rounded, about.tokens)
    put(f"tokens: about {middle} (at least {low}, at most {high})")
    put(f"cost:   {_dollars(about)}")
    for end, words in about.assumed.items():
        put(f"{end}: {words}")
    put(f"how tokens are counted: {about.rule}")
    return 0


def tell_calls(
    plan: Plan,
    costs: CallCosts,
    rule: str,
    *,
    rows: Mapping[str, Any] | None = None,
    lines: Iterable[str] = (),
    as_json: bool,
) -> None:
    """Print the plan with the costs of its calls. `rows` and `lines`: what the JSON and the text have besides."""
    if as_json:
        print_json(
            {
                plan.what: plan.count,
                "calls": {"usual": plan.usual, "most": plan.most},
                **(rows or {}),
                "tokens": {"input": costs.sent, "output": costs.replied},
                "cost": None if costs.unknown else costs.dollars,
                "cost_unknown": costs.unknown,
                "rule": rule,
            }
        )
        return
    put(plan.line)
    put(*lines)
    put(f"tokens: about {costs.sent:,} sent and {costs.replied:,} replied")
    put(f"cost:   {f'unknown: {costs.unknown}' if costs.unknown else f'about ${costs.dollars:,.2f}'}")
    put(rule)


def _rounded(value: int) -> str:
    """A number with two digits that count: more would pretend to be known."""
    digits = len(str(value))
    return f"{round(value, 2 - digits):,}" if digits > 2 else str(value)


def _dollars(about: CostEstimate) -> str:
    if about.cost is None:
        return f"unknown: {about.unknown}"
    low, middle, high = about.cost
    return (
        f"about ${middle:.2g} (at least ${low:.2g}, at most ${high:.2g})"
        if high
        else "nothing: user and assistant follow rules or play stored messages, without a language model"
    )


def models_of_cast(cast: Any) -> "list[BaseChatModel]":
    """Every chat model that a node of the cast asks, in the graph's order."""
    from ...nodes.state import PLACES
    from ...nodes.validators.composition import models_of

    return [model for place in PLACES for model in models_of(getattr(cast, place))]


def models_asked(cast: Any) -> "list[PriceQuery]":
    """The models of the cast that cost something to ask, each once."""
    from ...nodes.calls.prices import asked_model

    queries = (asked_model(model) for model in models_of_cast(cast))
    return list(dict.fromkeys(query for query in queries if query is not None))


def calls_models(casts: Iterable[Any]) -> bool:
    """Whether a cast calls models with a price, or with an unknown one."""
    return any(models_asked(cast) or not models_of_cast(cast) for cast in casts)


def makes_own_calls(cast: Any, place: str) -> bool:
    """Whether a speaker is neither a chat model nor stored messages: what it calls is its own matter."""
    node = cast.describe()[place]
    return not node.stored and "model" not in node.settings


def _finished(folder: Path, max_tokens: int | None) -> Iterable[str]:
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
