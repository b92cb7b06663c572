"""Asking about many things at once, within the bounds of a run: replies are kept, so nothing is paid for twice.

Equal things are asked about once, and a model that only fails is given up. All that asking takes from the engine of runs
and from its files of replies stands here.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..data.files.paths import make_folder
from ..data.identity import digest
from ..data.records import Conversation
from ..data.text.words import OF_MESSAGE, tokens_about
from ..graphs import Cast
from ..nodes.calls.gate import EndpointError
from ..nodes.calls.spending import PriceQuery, asked_model
from ..nodes.judges import ATTEMPTS
from ..nodes.limits import Limits
from ..nodes.settings.redaction import error_line
from ..nodes.state import Planned
from .engine.conduct import Conduct, calling
from .engine.conversing import Concurrency, do_all
from .engine.event_loop import blocking
from .journals.calls import CALLS, CallFile, count
from .journals.journal import RunError, making
from .planning.conversations import conversations_planned
from .planning.plans import ANSWER, AS_SENT, CallEstimate, CallPlan, ModelCalls, joined
from .simulation import results

__all__ = [
    "REPLIES",
    "Asking",
    "CallPlan",
    "Concurrency",
    "Conduct",
    "ModelAnswer",
    "RunError",
    "ask_all",
    "blocking",
    "calls_planned",
    "joined",
    "making",
    "one_control",
    "questions_planned",
    "runs_planned",
    "simulated",
]

T = TypeVar("T")

REPLIES = CALLS
"""Name of the file in a folder in which replies of models are kept."""
GIVE_UP = 10
"""Failures in a row after which nothing more is asked."""
RULE = f"{AS_SENT}, and about {ANSWER[1]} tokens of an answer; nothing is asked again, and reasoning is not foreseen"


@dataclass(frozen=True, kw_only=True)
class ModelAnswer:
    """A model's answer about one thing."""

    usage: Mapping[str, int] | None = None
    """Tokens, by the names of `data.Usage`."""
    error: str = ""
    """Why there is no answer, in one line; empty if there is one."""


A = TypeVar("A")
M = TypeVar("M", bound=ModelAnswer)


async def ask_all(
    things: Mapping[str, T],
    ask: Callable[[T], Awaitable[A]],
    *,
    replies: Path | None = None,
    failed: Callable[[A], object] = lambda _: False,
    models: Iterable[Any] = (),
    conduct: Conduct | None = None,
    concurrency: Concurrency = "auto",
    on_answer: Callable[[A], object] | None = None,
) -> tuple[dict[str, A], str]:
    """Ask about every thing; gives the answers by name, and why some are missing (empty if none is).

    Args:
        things: The things by name, each asked about once.
        ask: Asks about one thing. An exception that it raises ends everything, and is raised as it is.
        replies: The file in which every reply of a model is kept. The same call with it asks only for what is missing,
            after a kill too, and bounds of tokens and dollars count what was paid before.
        failed: Whether an answer is a failure; after ten in a row nothing more is asked.
        models: The models that are asked, by whose price the kept replies count.
        conduct: Pace and bounds.
        concurrency: Things that are asked about at the same time.
        on_answer: Called with each answer.

    Raises:
        RunError: The file of replies cannot be used.
    """
    conduct = conduct or Conduct()
    control = conduct.controlled()
    answers: dict[str, A] = {}
    in_a_row = 0

    async def one(item: tuple[str, T]) -> None:
        nonlocal in_a_row
        if in_a_row < GIVE_UP:
            name, thing = item
            answer = answers[name] = await ask(thing)
            in_a_row = in_a_row + 1 if failed(answer) else 0
            if on_answer is not None:
                on_answer(answer)

    if not things:
        return answers, ""
    why = ""
    if replies is not None:
        with making(replies.parent):
            make_folder(replies.parent)
    place = None if replies is None else replies.parent
    with conduct.calls(place, name=REPLIES if replies is None else replies.name) as file:
        if file is not None and control.spending.bounded:
            query = next(filter(None, map(asked_model, models)), None)
            for paid in file.paid:
                count(control.spending, paid, query)
        try:
            async with calling(control, file, max_seconds=conduct.max_seconds) as calls:
                await do_all(things.items(), one, calls, control, concurrency)
        except EndpointError as error:
            why = error_line(error)
    control.over()
    if len(answers) == len(things):
        return answers, ""
    return answers, why or control.ending or f"{GIVE_UP} calls in a row failed"


@dataclass(frozen=True)
class Asking(Generic[T, M]):
    """The questions to one model, a thing each."""

    model: Any
    """A LangChain chat model."""
    kind: type[M]
    things: Sequence[T]
    ask: Callable[[T], Awaitable[M]]
    texts: Callable[[T], Sequence[str]]
    """What is sent first about a thing: things with the same texts are one."""

    async def answers(
        self,
        *,
        replies: Path | None = None,
        concurrency: Concurrency = "auto",
        conduct: Conduct | None = None,
        on_answer: Callable[[M], object] | None = None,
    ) -> list[M]:
        """The model's answer about each thing, in their order; the `error` of one that is missing says why.

        Parameters and errors as for `ask_all`.
        """
        names = [digest(*self.texts(thing)) for thing in self.things]
        answers, why = await ask_all(
            dict(zip(names, self.things, strict=True)),
            self.ask,
            replies=replies,
            failed=lambda answer: answer.error,
            models=[self.model],
            conduct=conduct,
            concurrency=concurrency,
            on_answer=on_answer,
        )
        return [answers[name] if name in answers else self.kind(error=f"not asked: {why}") for name in names]


def one_control(conduct: Conduct | None) -> Conduct:
    """The conduct under which several pieces of work have one set of bounds together."""
    conduct = conduct or Conduct()
    return replace(conduct, control=conduct.controlled())


async def simulated(
    cast: Cast,
    states: Sequence[Planned],
    result_of: Callable[[Conversation], A],
    *,
    limits: Limits,
    out: Path | None = None,
    concurrency: Concurrency = "auto",
    conduct: Conduct | None = None,
) -> list[A]:
    """What `result_of` gives for the conversation of each state, simulated in a run folder or in memory.

    In a folder with a part of the conversations the rest is simulated. RunError if the folder holds another run; EndpointError if an endpoint cannot be used and nothing was finished.
    """
    return await results(
        cast,
        states,
        result_of,
        limits=limits,
        concurrency=concurrency,
        out=out,
        resume=_begun(out),
        conduct=conduct,
    )


def runs_planned(
    runs: Mapping[str, tuple[Cast, Sequence[Planned], Limits, Path | None]], what: str, length: str, part: str
) -> CallPlan:
    """The plan of `simulated` for casts, states, limits and folders by name; `what`: the states, `part`: what each run is."""
    plans = {
        name: replace(conversations_planned(cast, states, out, limits, resume=_begun(out)), what=what)
        for name, (cast, states, limits, out) in runs.items()
    }
    return joined(plans, what, length, part)


def questions_planned(askings: Iterable[Asking[Any, Any]], what: str, replies: Path | None) -> CallPlan:
    """The plan of asking models; `what`: the things, such as `turns`."""
    requests = [
        (asked_model(asking.model), sum(map(tokens_about, texts)) + 2 * OF_MESSAGE, ANSWER[1])
        for asking in askings
        for texts in {tuple(asking.texts(thing)) for thing in asking.things}
    ]
    return calls_planned(len(requests), what, requests, ATTEMPTS, replies, "each one question to a model", RULE)


def calls_planned(
    number: int,
    what: str,
    requests: Sequence[tuple[PriceQuery | None, int, int]],
    attempts: int,
    replies: Path | None,
    length: str,
    rule: str,
) -> CallPlan:
    """The plan of requests: of each the model, and about the tokens that it sends and gets.

    `number` and `what`: the things that they are about. What is kept in the file of replies is told and not taken off.
    """
    kept = CallFile.read(replies) if replies is not None and replies.is_file() else None
    kept_replies = 0 if kept is None else sum(1 for _ in kept.paid)
    calls = tuple(ModelCalls.of(query, [(sent, got)]) for query, sent, got in requests)
    return CallPlan(
        number,
        what,
        len(requests),
        attempts * len(requests),
        length,
        bool(requests),
        lambda: CallEstimate(calls, rule, is_range=False),
        again="every reply has to be asked again",
        fewer=(f"{kept_replies:,} replies are kept already, and not paid for again",) if kept_replies else (),
    )


def _begun(out: Path | None) -> bool:
    return out is not None and out.is_dir() and any(out.iterdir())
