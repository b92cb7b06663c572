"""Chat models that a study asks about many things: their answers, and those that are missing."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import DataError
from .sources import Notify

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..runs.ask import Asking, ModelAnswer
    from ..runs.settings import RunSettings

    M = TypeVar("M", bound=ModelAnswer)


def answers_of(askings: "Mapping[str, Asking[Any, M]]", settings: "RunSettings | None" = None) -> "dict[str, list[M]]":
    """The answers of each model about each thing, one model after the other, under one set of bounds."""
    from ..runs import RunSettings, blocking

    how = (settings or RunSettings()).shared()
    return {name: blocking(asking.answers(how)) for name, asking in askings.items()}


def unanswered(answers: "Sequence[ModelAnswer]", model: str, one: str, *, they: str, notify: Notify) -> int:
    """The number of things about which a model gave no answer, of which `notify` is called with a line.

    `one`: a thing, such as `turn`; `they`: the effect of those without an answer. DataError if no thing has one.
    """
    failed = [answer for answer in answers if answer.error]
    if failed and len(failed) == len(answers):
        raise DataError(f"--model {model}: gave no answer about any {one}: {failed[0].error}")
    if failed:
        notify(f"{model}: gave no answer about {len(failed)} of {len(answers)} {one}s, which {they}: {failed[0].error}")
    return len(failed)
