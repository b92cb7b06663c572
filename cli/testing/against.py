"""Options of a comparison with another version of an agent."""

from pathlib import Path
from typing import Annotated, Any

from ..options.sections import AGAINST as SECTION
from ..options.shared import option

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
    "detect": (
        Annotated[
            float | None,
            option(
                "Print how many scenarios and repeats find this difference with a chance of 80 %; with --plan or "
                "--results.",
                section=SECTION,
                metavar="DIFFERENCE",
            ),
        ],
        None,
    ),
    "fail_if_worse": (
        Annotated[
            float | None,
            option(
                "Exit with code 1 if the lower end of the difference's 95 % interval is below minus this.",
                section=SECTION,
                min=0,
                max=1,
                metavar="MARGIN",
            ),
        ],
        None,
    ),
}
"""Options of a test that compares two versions, each with its default."""
