"""Asking about many things at once, within the bounds of a run: replies are kept, so nothing is paid for twice.

Equal things are asked about once, and a model that only fails is given up.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from ..data.files.paths import make_folder
from ..data.identity import digest
from ..data.records import Conversation
from ..graphs import Cast
from ..nodes.calls.gate import EndpointError
from ..nodes.calls.service import replies_outside
from ..nodes.judges import ATTEMPTS
from ..nodes.limits import Limits
from ..nodes.settings.redaction import error_line
from ..nodes.state import Planned
from .engine import blocking, do_all, under_way
from .plan import CallPlan, conversations_planned, joined
from .progress import Figures, shown
from .settings import RunSettings
from .simulate import Run, arun
from .store import making

T = TypeVar("T")
A = TypeVar("A")

GIVE_UP = 10
"""Failures in a row after which nothing more is asked."""


@dataclass(frozen=True, kw_only=True)
class ModelAnswer:
    """A model's answer about one thing."""

    usage: Mapping[str, int] | None = None
    """Tokens, by the names of `data.Usage`."""
    error: str = ""
    """Why there is no answer, in one line; empty if there is one."""


M = TypeVar("M", bound=ModelAnswer)


async def ask_all(
    things: Mapping[str, T],
    ask: Callable[[T], Awaitable[A]],
    settings: RunSettings | None = None,
    *,
    failed: Callable[[A], object] = lambda _: False,
) -> tuple[dict[str, A], str]:
    """Ask about every thing; gives the answers by name, and why some are missing (empty if none is).

    Args:
        things: The things by name, each asked about once.
        ask: Asks about one thing. An exception that it raises ends everything, and is raised as it is.
        settings: Pace and bounds, and the file of replies: the same call with it asks only for what is missing, after a
            kill too, and bounds of tokens and dollars count what was paid before.
        failed: Whether an answer is a failure; after ten in a row nothing more is asked.

    Raises:
        DataError: The file of replies cannot be used.
    """
    settings = settings or RunSettings()
    calls = settings.calls()
    progress = Figures(len(things), calls, "answers")
    answers: dict[str, A] = {}
    in_a_row = 0

    async def one(item: tuple[str, T]) -> None:
        nonlocal in_a_row
        if in_a_row < GIVE_UP:
            name, thing = item
            answer = answers[name] = await ask(thing)
            in_a_row = in_a_row + 1 if failed(answer) else 0
            progress.ended += 1
            progress.failed += in_a_row > 0

    if not things:
        return answers, ""
    why = ""
    with ExitStack() as opened:
        calls.begin()
        if settings.replies is not None and not settings.frozen:
            with making(settings.replies.parent):
                make_folder(settings.replies.parent)
        kept = calls.replies = settings.kept_replies()
        if kept is not None and kept is not replies_outside():
            opened.callback(kept.close)
            if calls.spending.bounded:
                calls.spending.add_kept(kept)
        opened.enter_context(shown(progress, settings.progress))
        async with under_way(calls, settings.max_time):
            try:
                await do_all(things.items(), one, calls, settings.concurrency)
            except EndpointError as error:
                why = error_line(error)
    if len(answers) == len(things):
        return answers, ""
    return answers, why or calls.ending or f"{GIVE_UP} calls in a row failed"


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

    async def answers(self, settings: RunSettings | None = None) -> list[M]:
        """The model's answer about each thing, in their order; the `error` of one that is missing says why.

        Parameters and errors as for `ask_all`.
        """
        names = [digest(*self.texts(thing)) for thing in self.things]
        things = dict(zip(names, self.things, strict=True))
        answers, why = await ask_all(things, self.ask, settings, failed=lambda answer: answer.error)
        return [answers[name] if name in answers else self.kind(error=f"not asked: {why}") for name in names]


@dataclass(frozen=True)
class Runs:
    """Several runs under one set of bounds, by name, each with a cast, its states and its limits."""

    runs: Mapping[str, tuple[Cast, Sequence[Planned], Limits]]
    out: Path | None = None
    """Where each has a run folder of its name; None: in memory."""

    def plan(self, what: str, length: str) -> CallPlan:
        """The plan of what their folders lack; `what`: what the states are, `length`: how long each is, in words."""
        plans = (
            replace(conversations_planned({"": cast}, states, RunSettings(out=self._folder(name)), limits), what=what)
            for name, (cast, states, limits) in self.runs.items()
        )
        return joined(plans, what, length)

    async def conversations(self, settings: RunSettings | None = None) -> dict[str, list[Conversation]]:
        """The conversation of each state, one run after the other.

        RunError if a folder holds another run; EndpointError if an endpoint cannot be used and nothing was finished.
        """
        shared = (settings or RunSettings()).model_copy(update={"ray": None}).shared()
        over: dict[str, tuple[Run, list[Conversation]]] = {}
        for name, (cast, states, limits) in self.runs.items():
            run = await arun({"": cast}, states, shared.model_copy(update={"out": self._folder(name)}), limits=limits)
            over[name] = run, run.records()
        every = [one for _, records in over.values() for one in records]
        for run, _ in over.values():
            run.check(every)
        return {name: records for name, (_, records) in over.items()}

    def _folder(self, name: str) -> Path | None:
        return None if self.out is None else self.out / name


Carry: TypeAlias = Callable[[Runs, str, str], Mapping[str, Sequence[Conversation]]]
"""From several runs, what their states are, and how long each is, to the conversations of each."""


def carried(settings: RunSettings | None = None) -> Carry:
    """Several runs are waited for, with these settings."""
    return lambda runs, what, length: blocking(runs.conversations(settings))


def questions_planned(askings: Iterable[Asking[Any, Any]], what: str) -> CallPlan:
    """The plan of asking models; `what`: the things, such as `turns`."""
    count = sum(len({tuple(asking.texts(thing)) for thing in asking.things}) for asking in askings)
    return CallPlan(count, what, count, ATTEMPTS * count, "each one question to a model")
