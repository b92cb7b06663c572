"""Options of a comparison with another version of an agent."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import BadParameter

from ..options.sections import AGAINST as SECTION
from ..options.shared import option

if TYPE_CHECKING:
    from ...analysis.testing.pairs import Margin


def margin_of(text: str) -> "Margin":
    """`shown`, or a share above 0 and below 1."""
    if text == "shown":
        return "shown"
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise BadParameter(f"expected shown, or a share above 0 and below 1, not {text!r}")
    return share


AGAINST: dict[str, tuple[Any, Any]] = {
    "against": (
        Annotated[
            str | None,
            option(
                "Compare with another version in pairs of scenario and repeat: an agent, which is simulated "
                "alternately with yours, or the run folder of an earlier test.",
                section=SECTION,
                metavar="MODULE:NAME|MODEL|RUN",
            ),
        ],
        None,
    ),
    "results": (
        Annotated[
            Path | None,
            option(
                "Report this run folder, in pairs with that of `--against` if it is given, and simulate nothing.",
                section=SECTION,
                metavar="RUN",
            ),
        ],
        None,
    ),
    "common": (
        Annotated[
            bool,
            option(
                "If scenarios or repeats differ, compare only those that both runs have.", "--common", section=SECTION
            ),
        ],
        False,
    ),
    "fail_if_worse": (
        Annotated[
            Any,
            option(
                "Exit with code 1 if a loss on these scenarios is shown (`shown`), or unless one of at most this share is.",
                section=SECTION,
                parser=margin_of,
                metavar="shown|SHARE",
            ),
        ],
        None,
    ),
}
"""Options of a test that compares two versions, each with its default."""
