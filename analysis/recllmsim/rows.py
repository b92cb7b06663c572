"""Tables whose rows are typed records: one definition for what is printed, exported and given as JSON."""

from typing import Any, ClassVar, Generic, TypeVar, get_args

from ...data.records import Record
from ..tables import Cell, Column, Kind, Table

R = TypeVar("R", bound=Record)

_KINDS: dict[Any, Kind] = {str: "text", int: "count", int | None: "count", float | None: "number"}


class Rows(Record, Generic[R]):
    """Rows of one kind, and what a reader must know of them: why a value, or every one, is missing.

    A subclass says by its docstring what is counted, and by its `rows` what a row holds.
    """

    title: ClassVar[str]

    rows: tuple[R, ...] = ()
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """A column for each field of a row; what is no text or number is told in words."""
        (row, _) = get_args(type(self).model_fields["rows"].annotation)
        columns = [
            Column(name=name.replace("_", " "), kind=_KINDS.get(field.annotation, "text"))
            for name, field in row.model_fields.items()
        ]
        records = [{name: _cell(getattr(one, name)) for name in row.model_fields} for one in self.rows]
        return Table.of(self.title, columns, records, self.notes)

    def to_json(self) -> list[dict[str, Any]]:
        """An object for each row; null where there is no value."""
        return [row.model_dump(mode="json") for row in self.rows]


def _cell(value: Any) -> Cell:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else value
