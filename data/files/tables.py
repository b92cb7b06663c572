"""Rows of tables: text with a header (CSV, TSV), Parquet by pyarrow (extra `parquet`), workbooks of tasks by openpyxl (`stats`)."""

import csv
import io
import re
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import DataError, at
from .json import as_json, bounded_lines, read_text
from .paths import MOST_BYTES, check, is_regular, open_lines

Row: TypeAlias = dict[str, Any]
SheetRow: TypeAlias = Sequence[Any]

PARQUET = b"PAR1"
"""How a Parquet file begins."""
ARCHIVE = b"PK\x03\x04"
"""How a zip archive begins, of which a workbook is one."""

MOST_CELLS = 200_000
"""Most cells of a workbook that are looked at, empty ones that a row is filled up with included."""

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
    with io.TextIOWrapper(open_lines(path), encoding="utf-8-sig", newline="") as file:
        begin = file.buffer.read(_HEAD)
        file.buffer.seek(0)
        csv.field_size_limit(MOST_BYTES)  # a message may be long
        names = header_of(begin) or []
        first = begin.partition(b"\n")[0].decode("utf-8", "replace")
        rows = csv.reader(bounded_lines(file, path), delimiter=_delimiter(first), strict=True)
        while True:
            line = rows.line_num + 1
            try:
                row = next(rows)
            except StopIteration:
                return
            except UnicodeDecodeError:
                read_text(path)  # which names the byte
                raise
            except csv.Error as error:
                problem = f"is not a row ({error}): close its quotation marks"
                raise DataError(f"{at(path, f'line {line}')}: {problem}") from None
            if len(row) > len(names):
                problem = f"has {len(row)} cells, the header {len(names)}"
                advice = "put texts with a separator in quotation marks"
                raise DataError(f"{at(path, f'line {line}')}: {problem}: {advice}")
            if any(row) and line > 1:
                yield f"line {line}", {name: cell for name, cell in zip(names, row, strict=False) if name}


def parquet_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Place and row of a Parquet file; DataError without pyarrow, and for a file that it cannot read."""
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise DataError(f'{at(path)}: is Parquet and needs pyarrow: pip install "duologue[parquet]"') from None
    check(path)
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", {str(key): as_json(value) for key, value in row.items()}
    except Exception as error:  # a broken file can raise anything in the library
        name = type(error).__name__
        raise DataError(f"{at(path)}: is not a Parquet file that can be read ({name}): save it again") from None


# --- Workbooks


def is_workbook(path: str | Path) -> bool:
    """Whether the file is a workbook, possibly cut off: then it is not a valid archive, but begins like one."""
    if not is_regular(path):
        return False
    try:
        with Path(path).open("rb") as file:
            return file.read(len(ARCHIVE)) == ARCHIVE
    except OSError:
        return False


def sheets(path: Path, columns: Collection[str]) -> Generator[tuple[str, Iterator[SheetRow]], None, None]:
    """Name and rows of each sheet with these columns; DataError for an unreadable or too large file."""
    try:
        import openpyxl
    except ImportError:
        raise DataError(f'{at(path)}: is a workbook and needs openpyxl: pip install "duologue[stats]"') from None
    check(path)
    left = MOST_CELLS
    opened = ExitStack()

    def rows_of(sheet: Any) -> Generator[SheetRow, None, None]:
        nonlocal left
        with closing(sheet.iter_rows(values_only=True)) as rows:
            for row in rows:
                left -= len(row) + 1
                if left < 0:
                    raise DataError(f"{path}: {sheet.title}: has more than {MOST_CELLS:,} cells: delete the empty ones")
                yield row

    try:
        with (
            path.open("rb") as file,
            closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book,
            opened,
        ):
            for sheet in book.worksheets:
                rows = opened.enter_context(closing(rows_of(sheet)))
                first = next(rows, ())
                if set(columns) <= set(map(name_of, first)):
                    yield sheet.title, chain((first,), rows)
    except DataError:
        raise
    except Exception as error:  # a broken archive can raise anything in the library
        name = type(error).__name__
        raise DataError(f"{at(path)}: is not a workbook that can be read ({name}): save it again") from None


def name_of(cell: object) -> str:
    """The name that a cell of the first row gives its column; empty for an empty cell."""
    return str(cell).strip() if cell is not None else ""
