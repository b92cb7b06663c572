"""Asking a cast's assistant questions about sections, with a run's journal, pace, budgets and resuming."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..data.simquac import ReadingQuestion
from ..graphs import Cast
from ..graphs.single_turn import answer_of, question_states
from .engine.conduct import Conduct
from .engine.conversing import Concurrency, Watch
from .engine.event_loop import waiting
from .planning.conversations import conversations_planned
from .planning.plans import CallPlan, joined
from .simulation import results


class ReadingAnswers(NamedTuple):
    """Answers to questions, in their order."""

    answers: list[str | None]
    """None for a refusal, and where the reader could not be asked."""
    failures: list[str | None]
    """Why it could not be asked; None where it was."""


async def aread(
    cast: Cast,
    questions: Sequence[ReadingQuestion],
    *,
    out: str | Path | None = None,
    concurrency: Concurrency = "auto",
    conduct: Conduct | None = None,
    watch: Watch | None = None,
) -> ReadingAnswers:
    """As `read`, whose parameters, result and errors it has, to be awaited."""
    conduct = replace(conduct or Conduct(), ray=None)
    answers = await results(
        cast,
        question_states(questions),
        answer_of,
        out=out,
        resume=_begun(out),
        concurrency=concurrency,
        conduct=conduct,
        watch=watch,
    )
    return ReadingAnswers([answer for answer, _ in answers], [failure for _, failure in answers])


def answers_planned(works: Mapping[str, tuple[Cast, Sequence[ReadingQuestion], Path | None]]) -> CallPlan:
    """The plan of `read` for casts, questions and folders by name: of the answers that the folders have not."""
    plans = {
        name: conversations_planned(cast, question_states(questions), folder, cast.limits, resume=_begun(folder))
        for name, (cast, questions, folder) in works.items()
    }
    questions_plans = {name: replace(plan, what="questions") for name, plan in plans.items()}
    return joined(questions_plans, "questions", "each one answer", "readers")


def _begun(out: str | Path | None) -> bool:
    return out is not None and Path(out).is_dir() and any(Path(out).iterdir())


@waiting(aread)
def read() -> None:
    """The answers of a reader or a teacher (`graphs.single_turn`) to questions, each asked in a conversation of its own.

    `out`: a run folder. What was answered there is not asked again, and a kill loses no reply that was paid for.
    `concurrency`, `conduct`, `watch`: as for `simulate`. RunError if the folder holds other questions or another
    reader; EndpointError if an endpoint cannot be used and nothing was answered.

    Example::

        >>> from duologue import data, graphs, runs
        >>> questions = data.simquac.questions_of(data.load("quac.json"), history=2)  # doctest: +SKIP
        >>> runs.reading.read(graphs.single_turn.teacher("offline"), questions, out="out/read")  # doctest: +SKIP
    """
