"""Variants of a cast as a page: a row for each, which unfolds into its differences to the first."""

from collections.abc import Mapping
from pathlib import Path

from ...analysis.testing.pairs.ablation import AblationReport
from ..listing import ListColumn, ListRow, list_page, packed
from ..pages import render

ABLATION_PAGE = "ablation.html"


def ablation_page(report: AblationReport, folders: Mapping[str, Path], *, title: str) -> str:
    """The comparison as one self-contained page.

    `folders`: the run folder of each variant.
    """
    measures = list(dict.fromkeys(mean.measure for mean in report.means))
    means = {(mean.variant, mean.measure): mean.mean for mean in report.means}
    columns = [
        ListColumn("variant", number=False),
        ListColumn("conversations", hint="those that count"),
        *(ListColumn(measure, digits=2, hint="mean over scenarios") for measure in measures),
    ]
    rows = []
    for variant in report.variants:
        differs = "; ".join(variant.differs) or (
            "" if variant.name == report.first else "has the settings of the first"
        )
        own = report.model_copy(
            update={
                "means": tuple(mean for mean in report.means if mean.variant == variant.name),
                "notes": (f"run: {folders[variant.name]}", *([differs] if differs else [])),
            }
        )
        cells = [variant.name, variant.counted, *(means[variant.name, measure] for measure in measures)]
        html = render("table.html", table=own.table(), in_page=True)
        rows.append(ListRow(cells=cells, text=f"{variant.name}\n{differs}", packed=packed(html), small=differs))
    return list_page(
        title,
        columns,
        rows,
        lines=[f"all others are compared with {report.first}", *report.summary()],
        summary=render("table.html", table=report.table(), in_page=True),
    )
