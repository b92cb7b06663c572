"""Tables whose rows are typed records: one definition for what is printed, exported and given as JSON."""

from typing import Any, ClassVar, Generic, TypeVar, get_args

from ...data.records import Record
from ..tables import Column, Kind, Table

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
        """A column for each field of a row."""
        (row, _) = get_args(type(self).model_fields["rows"].annotation)
        columns = [
            Column(name=name.replace("_", " "), kind=_KINDS.get(field.annotation, "text"))
            for name, field in row.model_fields.items()
        ]
        return Table.of(self.title, columns, self.rows, self.notes)

    def to_json(self) -> list[dict[str, Any]]:
        """An object for each row; null where there is no value."""
        return [row.model_dump(mode="json") for row in self.rows]
