"""Tables as tests read them: by row, or by source and measure."""

from types import SimpleNamespace

from duologue.analysis.tables import Table


def rows(table: Table) -> list[SimpleNamespace]:
    """Each row, its cells by the names of their columns."""
    return [SimpleNamespace(**row) for row in table.objects()]


def measures(table: Table) -> dict[str, SimpleNamespace]:
    """Of a table across sources each source's numbers by measure."""
    names = [str(row["measure"]).replace(" ", "_") for row in table.objects()]
    sources = [column.name for column in table.columns[1:]]
    cells = {name: [row[place] for row in table.rows] for place, name in enumerate(sources, start=1)}
    return {name: SimpleNamespace(**dict(zip(names, of_source, strict=True))) for name, of_source in cells.items()}
