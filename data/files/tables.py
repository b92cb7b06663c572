"""Rows of tables: text with a header (CSV, TSV), Parquet by pyarrow (extra `parquet`), workbooks of tasks by openpyxl (`stats`)."""

import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import DataError, at, of_extra
from .json import as_json
from .paths import MOST_BYTES, check, open_lines, opened

Row: TypeAlias = dict[str, Any]
SheetRow: TypeAlias = Sequence[Any]

GROUP = 500
"""Rows of Parquet that are read, or conversations that are written, at once."""
PARQUET = b"PAR1"
"""How a Parquet file begins."""
ARCHIVE = b"PK\x03\x04"
"""How a zip archive begins, of which a workbook is one."""

_HEAD = 5_000
"""Bytes at the beginning of a text in which its header stands."""
_DELIMITERS = "\t;,"
_NAME = re.compile(r"[^\[\]{}<>]{0,60}")


def header_of(begin: bytes) -> list[str] | None:
    """The names of the columns, if the first line of a text is one of short distinct names; else None.

    That of one column may be empty, as pandas writes its index.
    """
    line = begin.partition(b"\n")[0].decode("utf-8-sig", "replace").rstrip("\r")
    if "\r" in line or "\0" in line:
        return None
    names = next(csv.reader([line], delimiter=_delimiter(line)), [])
    fits = len(names) > 1 and len(set(names)) == len(names) and all(map(_NAME.fullmatch, names))
    return names if fits else None


def _delimiter(line: str) -> str:
    return max(_DELIMITERS, key=line.count)


def text_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Place and row of a table in text; DataError for a row that is longer than the header."""
    with open_lines(path) as packed, io.TextIOWrapper(packed, encoding="utf-8-sig", newline="") as file:
        first = file.buffer.read(_HEAD).partition(b"\n")[0].decode("utf-8", "replace")
        file.buffer.seek(0)
        csv.field_size_limit(MOST_BYTES)  # a message may be long
        rows = csv.DictReader(file, delimiter=_delimiter(first), strict=True)
        try:
            for row in rows:
                place = f"line {rows.line_num}"
                if None in row:
                    problem = "has more cells than the header: put texts with a separator in quotation marks"
                    raise DataError(f"{at(path, place)}: {problem}")
                if any(row.values()):
                    yield place, {name: cell for name, cell in row.items() if name and cell is not None}
        except UnicodeDecodeError as error:
            raise DataError(f"{at(path)}: is not UTF-8 ({error.reason}): save it as UTF-8") from None
        except csv.Error as error:
            problem = f"is not a row ({error}): close its quotation marks"
            raise DataError(f"{at(path, f'line {rows.line_num}')}: {problem}") from None


def parquet_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[str, Row]]:
    """Place and row of a Parquet file, of these columns or all; DataError for one that pyarrow cannot read."""
    parquet = of_extra("pyarrow.parquet", "parquet")
    check(path)
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=GROUP, columns=columns):
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", {str(key): as_json(value) for key, value in row.items()}
    except Exception as error:  # a broken file can raise anything in the library
        name = type(error).__name__
        raise DataError(f"{at(path)}: is not a Parquet file that can be read ({name}): save it again") from None


# --- Workbooks


def is_workbook(path: str | Path) -> bool:
    """Whether the file is a workbook, possibly cut off: then it is not a valid archive, but begins like one."""
    with opened(Path(path)) as file:
        return file.read(len(ARCHIVE)) == ARCHIVE


def sheets(path: Path, columns: Collection[str]) -> list[tuple[str, list[SheetRow]]]:
    """Name and rows of each sheet with these columns; DataError for a file that cannot be read."""
    openpyxl = of_extra("openpyxl", "stats")
    try:
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
            read = [(sheet.title, list(sheet.iter_rows(values_only=True))) for sheet in book.worksheets]
    except Exception as error:  # a broken archive can raise anything in the library
        name = type(error).__name__
        raise DataError(f"{at(path)}: is not a workbook that can be read ({name}): save it again") from None
    return [(title, rows) for title, rows in read if rows and set(columns) <= set(map(name_of, rows[0]))]


def name_of(cell: object) -> str:
    """The name that a cell of the first row gives its column; empty for an empty cell."""
    return str(cell).strip() if cell is not None else ""
