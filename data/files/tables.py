"""Rows of tables: text with a header (CSV, TSV), Parquet by pyarrow (extra `parquet`), workbooks by openpyxl."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import DataError, at
from .json_files import lines_of, open_lines, read_text
from .json_values import as_json
from .regular_files import MOST_BYTES, check
from .workbooks import name_of, sheets

Row: TypeAlias = dict[str, Any]

PARQUET = b"PAR1"
"""How a Parquet file begins."""

NAMES = "columns between commas, semicolons or tabs"

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
        size = file.buffer.seek(0, io.SEEK_END)
        csv.field_size_limit(max(csv.field_size_limit(), min(size, MOST_BYTES) + 1))  # a message may be long
        file.buffer.seek(0)
        begin = file.buffer.read(_HEAD)
        file.buffer.seek(0)
        names = header_of(begin) or []
        first = begin.partition(b"\n")[0].decode("utf-8", "replace")
        rows = csv.reader(lines_of(file, path), delimiter=_delimiter(first), strict=True)
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
                problem = (
                    f"has {len(row)} cells, the header {len(names)}: put texts with a separator in quotation marks"
                )
                raise DataError(f"{at(path, f'line {line}')}: {problem}")
            if any(row) and line > 1:
                yield f"line {line}", {name: cell for name, cell in zip(names, row, strict=False) if name}


def workbook_rows(path: Path) -> Iterator[tuple[str, Iterable[tuple[str, Row]]]]:
    """Title and rows of each sheet of a workbook."""
    for title, rows in sheets(path, ()):
        names = [name_of(cell) for cell in next(rows, ())]
        yield (
            title,
            (
                (f"{title}, row {number}", _cells(names, row))
                for number, row in enumerate(rows, start=2)
                if any(cell is not None for cell in row)
            ),
        )


def _cells(names: Iterable[str], row: Iterable[Any]) -> Row:
    cells = zip(names, row, strict=False)
    return {name: "" if cell is None else as_json(cell) for name, cell in cells if name}


def parquet_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Place and row of a Parquet file; DataError without pyarrow, and for a file that it cannot read."""
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise DataError(f'{at(path)}: is Parquet and needs pyarrow: pip install "duologue[parquet]"') from None
    check(path, MOST_BYTES)
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            about = file.metadata
            size = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
            if size > MOST_BYTES:
                raise DataError(f"{at(path)}: unpacks to {size:,} bytes, {MOST_BYTES:,} are read at once: split it")
            for batch in file.iter_batches():
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", {str(key): as_json(value) for key, value in row.items()}
    except DataError:
        raise
    except Exception as error:  # a broken file can raise anything in the library
        name = type(error).__name__
        raise DataError(f"{at(path)}: is not a Parquet file that can be read ({name}): save it again") from None
