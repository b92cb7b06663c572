"""Workbooks, by openpyxl (extra `stats`): their sheets row by row, with bounds on what they unpack to."""

import zipfile
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import DataError, at
from .regular_files import check, is_regular

SheetRow: TypeAlias = Sequence[Any]

MOST_BYTES = 50_000_000
"""Most bytes of a file."""

MOST_TEXT = 50_000_000
"""Most bytes that sheets, texts and pictures unpack to. `zipfile` reads no more of a part than the directory says it has."""

MOST_OTHER = 2_000_000
"""Most bytes that styles and all else unpack to: openpyxl holds these as objects, many times larger."""

MOST_NAMES = 200_000
"""Most bytes of the list of sheets, which holds some hundreds: openpyxl opens each before it gives the first."""

MOST_CELLS = 200_000
"""Most cells that are looked at, empty ones that a row is filled up with included."""

LONGEST_CELL = 32_767
"""Most characters of a cell: the bound of Excel itself."""

_TEXT = ("xl/worksheets/", "xl/sharedStrings", "xl/media/", "xl/embeddings/", "xl/drawings/", "xl/charts/")
_NAMES = "xl/workbook.xml"


def is_workbook(path: str | Path) -> bool:
    """Whether the file is a workbook, possibly cut off: then it is not a valid archive, but begins like one."""
    if not is_regular(path):
        return False
    try:
        with Path(path).open("rb") as file:
            return file.read(4) == b"PK\x03\x04" or zipfile.is_zipfile(file)
    except OSError:
        return False


def sheets(path: Path, columns: Collection[str]) -> Generator[tuple[str, Iterator[SheetRow]], None, None]:
    """Name and rows of each sheet with these columns; DataError for an unreadable or too large file."""
    try:
        import openpyxl
    except ImportError:
        raise DataError(f'{at(path)}: is a workbook and needs openpyxl: pip install "duologue[stats]"') from None
    check(path, MOST_BYTES)
    try:
        _check_unpacked(path)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except DataError:
        raise
    except Exception as error:  # a broken archive can raise anything in the library
        raise _unreadable(path, error) from None
    with closing(book), ExitStack() as opened:
        left = MOST_CELLS
        for sheet in book.worksheets:
            opened.enter_context(closing(rows := _rows(sheet, path)))
            first = next(rows, ())
            if not set(columns) <= set(map(name_of, first)):
                continue

            def counted(rows: Iterator[SheetRow], title: str) -> Iterator[SheetRow]:
                nonlocal left
                for row in rows:
                    left -= len(row) + 1
                    if left < 0:
                        raise DataError(f"{path}: {title}: has more than {MOST_CELLS:,} cells: delete the empty ones")
                    yield row

            yield sheet.title, counted(chain((first,), rows), sheet.title)


def name_of(cell: object) -> str:
    """The name that a cell of the first row gives its column; empty for an empty cell."""
    return str(cell).strip() if cell is not None else ""


def _rows(sheet: Any, path: Path) -> Generator[SheetRow, None, None]:
    """The rows as openpyxl gives them; DataError where it fails, or for a cell that is too long."""
    with closing(sheet.iter_rows(values_only=True)) as rows:
        number = 0
        while True:
            number += 1
            try:
                row = next(rows)
            except StopIteration:
                return
            except Exception as error:  # as above
                raise _unreadable(path, error) from None
            if any(isinstance(cell, str) and len(cell) > LONGEST_CELL for cell in row):
                where = f"{path}: {sheet.title}, row {number}"
                raise DataError(f"{where}: a cell has more than {LONGEST_CELL:,} characters: shorten it")
            yield row


def _check_unpacked(path: Path) -> None:
    """Raise DataError if the archive's directory says that it unpacks to more than openpyxl should read."""
    sizes = dict.fromkeys(("sheets and texts", "styles", "list of sheets"), 0)
    with zipfile.ZipFile(path) as packed:
        for part in packed.infolist():
            name = part.filename
            what = "sheets and texts" if name.startswith(_TEXT) else "list of sheets" if name == _NAMES else "styles"
            sizes[what] += part.file_size
    for (what, size), most in zip(sizes.items(), (MOST_TEXT, MOST_OTHER, MOST_NAMES), strict=True):
        if size > most:
            problem = f"its {what} unpack to {size:,} bytes, the bound is {most:,}"
            raise DataError(f"{at(path)}: {problem}: copy the rows into a new workbook")


def _unreadable(path: Path, error: Exception) -> DataError:
    return DataError(f"{at(path)}: is not a workbook that can be read ({type(error).__name__}): save it again")
