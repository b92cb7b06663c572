"""Results that are tables: printed or written in a chosen form, or as JSON."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from rich.markup import escape

from ...data.files.json import dumps, write_text
from ...data.loading import DataSource, Loaded
from ...data.text.terminal import plain
from ...errors import DataError, SettingError, at
from ..options.sections import OUTPUT
from ..options.shared import force_for, json_of, option, out_to
from ..streams import print_json, put, put_tables, say, skips_broken, stderr
from .overwriting import check_free

if TYPE_CHECKING:
    from ...analysis.tables import Table, TabledReport

TableFormat: TypeAlias = Literal["text", "csv", "md", "latex", "json"]

Force: TypeAlias = Annotated[bool, force_for("what --out names", OUTPUT)]

LARGE = 2 * 10**9
"""Bytes of files from which a command that holds all conversations says how much memory it needs."""
GROWTH = 7
"""Bytes of memory for each byte of a file, about, once its conversations are held."""


def read_source(path: Path) -> Loaded:
    """The conversations of a source.

    Where all of a large source are held in memory, a line gives the memory that this takes.
    """
    source = DataSource(path, skip_broken=skips_broken())
    if not source.streams:
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.suffix in (".json", ".jsonl")]
        size = sum(file.stat().st_size for file in files if file.is_file())
        if size >= LARGE:
            say(f"{path}: {size / 1e9:.1f} GB of conversations are held in memory: about {GROWTH * size / 1e9:.0f} GB")
    with stderr.status(f"reads {escape(plain(str(path)))}"):
        return source.load()


@dataclass(frozen=True)
class TableOutput:
    """Where the tables of a command go, and in which form: a group of options (`model_fields.spread`)."""

    as_json: Annotated[bool, json_of("the results, unrounded", section=OUTPUT)] = False
    form: Annotated[
        TableFormat,
        option("Write the tables in this format; json is the same as --json.", "--format", section=OUTPUT),
    ] = "text"
    out: Annotated[
        Path | None,
        out_to("this file in place of stdout; several tables as CSV go into a folder.", "FILE", section=OUTPUT),
    ] = None
    force: Force = False

    @property
    def json(self) -> bool:
        """Whether the value is printed or written, and not its tables."""
        return self.as_json or self.form == "json"

    def check(self) -> None:
        """Refuse a place for the results before work, or money, is put into them; `give` checks again."""
        if self.out is None:
            return
        if not self.as_json and self.form == "text":
            raise SettingError("--out needs --format csv, md, latex or json: tables as text are for the terminal")
        if not self.out.is_dir():  # a folder may be for tables as CSV
            check_free(self.out, force=self.force)

    def show(self, report: "TabledReport") -> None:
        """`give` a report: its narrow tables on a terminal, all columns in a file or another form."""
        self.give(report.to_json(), report.narrow() if self.form == "text" else report.tables())

    def give(self, value: Any, tables: Sequence["Table"]) -> None:
        """Print the value as JSON or the tables in the form, or write them to the file `out`."""
        if self.out is not None:
            self._write(value, tables, self.out)
        elif self.json:
            print_json(value)
        elif self.form == "text":
            put_tables(tables)
        else:
            titled = self.form == "csv" and len(tables) > 1
            texts = [(f"# {table.title}\n" if titled else "") + self._text(table) for table in tables]
            put("\n".join(texts), end="")
            if self.form == "csv":
                say(*dict.fromkeys(note for table in tables for note in table.notes))

    def _text(self, table: "Table") -> str:
        return {"csv": table.to_csv, "latex": table.to_latex}.get(self.form, table.to_markdown)()

    def _write(self, value: Any, tables: Sequence["Table"], out: Path) -> None:
        if self.json or self.form != "csv" or len(tables) == 1:
            if not self.json:
                self.check()
            check_free(out, force=self.force)
            write_text(out, dumps(value, indent=2) + "\n" if self.json else "\n".join(map(self._text, tables)))
            if not self.json:
                say(f"written: {out}")
            return
        if out.is_file():
            raise DataError(f"{at(out)}: is a file: {len(tables)} tables as CSV need a folder")
        names = (re.sub(r"\W+", "_", table.title.casefold()).strip("_") for table in tables)
        files = {out / f"{name}.csv": table for table, name in zip(tables, names, strict=True)}
        check_free(*files, force=self.force)
        for file, table in files.items():
            write_text(file, table.to_csv())
        say(f"written: {len(tables)} tables in {out}")


PRINTED = TableOutput()
"""Output without an option."""
