"""Results that are tables: printed or written in a chosen form, or as JSON."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ..data import load
from ..data.formats.detection import CONVERSATIONS
from ..data.formats.folders import make_folder
from ..data.formats.journals import is_of_journal
from ..data.formats.jsonfiles import dumps, write_text
from ..data.loading import Loaded
from ..errors import DataError, SettingError, at
from .output import print_json, put, say, stdout
from .overwriting import check_free

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
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace what --out names if it exists.")]
ForceAll: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace what --out and --figures name if it exists.")
]
Figures: TypeAlias = Annotated[
    Path | None, typer.Option("--figures", metavar="DIR", help="Draw figures into this folder too, as SVG and PNG.")
]

LARGE = 256 * 10**6
"""Bytes of files from which a command that holds all conversations says how much memory it needs."""
GROWTH = 7
"""Bytes of memory for each byte of a file, about, once its conversations are held."""


def read_whole(path: Path) -> Loaded:
    """The conversations of a source, all held in memory; of a large one it is said how much that takes."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.suffix in (".json", ".jsonl")]
    if (path / CONVERSATIONS).is_file():  # a run, whose data set and call journal are not read
        files = [file for file in files if is_of_journal(file, CONVERSATIONS)]
    size = sum(file.stat().st_size for file in files if file.is_file())
    if size >= LARGE:
        say(f"{path}: {size / 1e9:.1f} GB of conversations are held in memory: about {GROWTH * size / 1e9:.0f} GB")
    return load(path)


def give(
    value: Any,
    tables: Sequence["Table"],
    *,
    as_json: bool,
    form: TableFormat = "rich",
    out: Path | None = None,
    force: bool = False,
) -> None:
    """Print the value as JSON or the tables in a form, or write them to the file `out`; with `force` it is replaced."""
    if as_json:
        if out is None:
            print_json(value)
        else:
            check_free(out, force=force)
            write_text(out, dumps(value, indent=2) + "\n")
    elif out is not None:
        _write(tables, form, out, force)
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


def check_given(out: Path | None, *, as_json: bool, form: TableFormat, force: bool) -> None:
    """Refuse a place for the results before work, or money, is put into them; `give` checks again."""
    if out is None:
        return
    if not as_json and form == "rich":
        raise SettingError("--out needs --format csv, markdown or latex, or --json: rich tables are for the terminal")
    if not out.is_dir():  # a folder may be for tables as CSV
        check_free(out, force=force)


def _write(tables: Sequence["Table"], form: TableFormat, out: Path, force: bool) -> None:
    if form == "rich":
        check_given(out, as_json=False, form=form, force=force)
    if form != "csv" or len(tables) == 1:
        check_free(out, force=force)
        write_text(out, "\n".join(_text(table, form) for table in tables))
        say(f"written: {out}")
        return
    if out.is_file():
        raise DataError(f"{at(out)}: is a file: {len(tables)} tables as CSV need a folder")
    names = (re.sub(r"\W+", "_", table.title.casefold()).strip("_") for table in tables)
    files = [(table, out / f"{name}.csv") for table, name in zip(tables, names, strict=True)]
    check_free(*(file for _, file in files), force=force)
    for table, file in files:
        write_text(file, table.to_csv())
    say(f"written: {len(tables)} tables in {out}")


def draw_figures(figures: Mapping[str, Any], folder: Path, out: Path | None = None, *, force: bool = False) -> None:
    """Each figure as SVG and PNG in the folder, under its name; with `force` in place of earlier ones.

    `out`: the file that the tables go to, which must be free too before anything is written.
    """
    from ..analysis.figures import rendered

    check_free(None if out is None or out.is_dir() else out, force=force)
    check_free(*(folder / f"{name}.{kind}" for name in figures for kind in ("svg", "png")), force=force)
    try:
        make_folder(folder)
        for name, figure in figures.items():
            (folder / f"{name}.svg").write_bytes(rendered(figure, "svg"))
            (folder / f"{name}.png").write_bytes(rendered(figure, "png"))
    except OSError as error:
        raise DataError(f"{at(folder)}: cannot be written ({error.strerror}): choose another folder") from None
    say(f"drawn: {', '.join(figures)} in {folder}")
