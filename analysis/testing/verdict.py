"""The verdict on a test: whether it passed, and why not."""

from collections.abc import Iterator

from .pairs.pairing import PairedTest
from .pairs.pairs_text import not_as_good
from .result import Successes
from .result_text import in_number, no_share


def with_verdict(
    result: Successes,
    *,
    threshold: float | None = None,
    at_least: float | None = None,
    broken: bool = False,
    against: PairedTest | None = None,
) -> Successes:
    """The result with its verdict.

    `threshold`: the lowest share with which it passes; `at_least`: the lowest lower end of its interval. `broken`: a part
    of the source of the scenarios could not be read. `against`: the comparison with another version, which may
    have a margin.
    """
    bounded = result.model_copy(update={"threshold": threshold, "at_least": at_least, "against": against})
    reasons = (
        *["a part of the source of the scenarios could not be read"] * broken,
        *_reasons(bounded),
    )
    return bounded.model_copy(update={"passed": not reasons, "not_passed_because": reasons})


def _reasons(result: Successes) -> Iterator[str]:
    """Why a test does not pass."""
    unscored = result.unscored - result.cut_short
    for count, one, several in (
        (result.not_begun, "was not begun", "were not begun"),
        (result.cut_short, "was cut short", "were cut short"),
        (unscored, "has no score", "have no score"),
    ):
        if count:
            yield f"{in_number(count)} {one if count == 1 else several}"
    if result.success is None and (result.all.conversations or not result.planned):
        yield no_share(result)
    if result.success is not None and result.threshold is not None and result.success.value < result.threshold:
        yield f"the share is below the threshold {result.threshold:g}"
    if result.success is not None and result.at_least is not None and result.success.low < result.at_least:
        yield f"the lower end of the interval is below {result.at_least:g}"
    if result.against is not None and (worse := not_as_good(result.against)):
        yield worse
    if result.unanswered and not result.answered:
        yield "the agent answered in no conversation to the end"
    elif result.unanswered and result.threshold is None and result.at_least is None:
        # Without a bound to decide by, an agent that did not answer passes as little as before that counted as failure.
        yield f"the agent did not answer to the end in {in_number(result.unanswered)}, and no threshold is set"
