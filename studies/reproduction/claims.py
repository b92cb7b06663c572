"""The claims by name, and their reproduction on the public subset."""

from pathlib import Path

from ...analysis.tables import Cell, Column, Table
from ...errors import SettingError
from . import answers, findings, realism, styles, tuned, varied
from .claim import Claim, Reproduction, reproduced

CLAIMS: dict[str, Claim] = {
    claim.name: claim for module in (realism, varied, answers, styles, tuned, findings) for claim in module.CLAIMS
}


def reproduce(name: str, folder: str | Path, seeds: int = 1) -> Reproduction:
    """Measure the figures of a claim again; `duologue reproduce` as a function.

    `folder`: the published data. `seeds`: number of seeds, from 0 on, for the range of each figure. SettingError for an
    unknown name; DataError for a folder without the data.
    """
    if name not in CLAIMS:
        raise SettingError(f"{name!r} is not a claim; there are {', '.join(CLAIMS)}")
    return reproduced(CLAIMS[name], folder, seeds)


def listed() -> Table:
    """The claims with their pages, and about how long each takes."""
    columns = (
        Column(name="name"),
        Column(name="minutes", kind="count"),
        Column(name="what"),
        Column(name="pages", wide=True),
    )
    rows: list[dict[str, Cell]] = [
        {"name": name, "minutes": claim.minutes, "what": claim.what, "pages": ", ".join(claim.pages)}
        for name, claim in CLAIMS.items()
    ]
    return Table.of("Figures that can be measured again: duologue reproduce NAME DATA", columns, rows)
