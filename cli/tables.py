"""Results that are tables: printed or written in a chosen form, or as JSON."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ..data.formats.jsonfiles import dumps, write_text
from ..errors import DataError, SettingError, at
from .output import print_json, put, say, stdout

if TYPE_CHECKING:
    from ..analysis.tables import Table

TableFormat: TypeAlias = Literal["rich", "csv", "markdown", "latex"]

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Give the results as JSON, unrounded.")]
Form: TypeAlias = Annotated[TableFormat, typer.Option("--format", help="How the tables are written.")]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Write here instead of to stdout; several tables as CSV go into a folder."
    ),
]
Figures: TypeAlias = Annotated[
    Path | None, typer.Option("--figures", metavar="DIR", help="Draw figures into this folder too, as SVG and PNG.")
]


def give(
    value: Any, tables: Sequence["Table"], *, as_json: bool, form: TableFormat = "rich", out: Path | None = None
) -> None:
    """Print the value as JSON or the tables in a form, or write them to the file `out`, which is replaced."""
    if as_json:
        if out is None:
            print_json(value)
        else:
            write_text(out, dumps(value, indent=2) + "\n")
    elif out is not None:
        _write(tables, form, out)
    elif form == "rich":
        for number, table in enumerate(tables):
            if number:
                stdout.print()
            stdout.print(table.rich())
    else:
        titled = form == "csv" and len(tables) > 1
        texts = [(f"# {table.title}\n" if titled else "") + _text(table, form) for table in tables]
        put("\n".join(texts), end="")
        if form == "csv":
            for note in dict.fromkeys(note for table in tables for note in table.notes):
                say(note)


def _text(table: "Table", form: TableFormat) -> str:
    match form:
        case "csv":
            return table.to_csv()
        case "latex":
            return table.to_latex()
        case _:
            return table.to_markdown()


def _write(tables: Sequence["Table"], form: TableFormat, out: Path) -> None:
    if form == "rich":
        raise SettingError("--out needs --format csv, markdown or latex, or --json: rich tables are for the terminal")
    if form != "csv" or len(tables) == 1:
        write_text(out, "\n".join(_text(table, form) for table in tables))
        say(f"written: {out}")
        return
    if out.is_file():
        raise DataError(f"{at(out)}: is a file: {len(tables)} tables as CSV need a folder")
    for table in tables:
        name = re.sub(r"\W+", "_", table.title.casefold()).strip("_")
        write_text(out / f"{name}.csv", table.to_csv())
    say(f"written: {len(tables)} tables in {out}")


def draw_figures(figures: Mapping[str, Any], folder: Path) -> None:
    """Each figure as SVG and PNG in the folder, under its name."""
    from ..analysis.figures import rendered

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, figure in figures.items():
            (folder / f"{name}.svg").write_bytes(rendered(figure, "svg"))
            (folder / f"{name}.png").write_bytes(rendered(figure, "png"))
    except OSError as error:
        raise DataError(f"{at(folder)}: cannot be written ({error.strerror}): choose another folder") from None
    say(f"drawn: {', '.join(figures)} in {folder}")
