"""One table in every form: right for the reader, and for the format's own signs."""

import csv
import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from rich.console import Console

from duologue.analysis.tables import Column, Table, TablesReport
from duologue.data.records import Record
from duologue.errors import MissingExtraError
from duologue.views.notebook import table_html

COLUMNS = (
    Column(name="side"),
    Column(name="messages", kind="count"),
    Column(name="length", kind="number", unit="words", places=2),
    Column(name="p", kind="p"),
    Column(name="survives", kind="flag"),
)
TABLE = Table(
    title="Lengths & shares",
    columns=COLUMNS,
    rows=(("a|b_<i>", 1200, -2.3456, 0.00001, True), ("50% of \\x", None, None, None, None)),
    notes=("no length: *nothing* was said",),
)


class Row(Record):
    name: str
    n: int


def printed(table):
    page = io.StringIO()
    Console(file=page, width=120).print(table.rich())
    return page.getvalue()


def test_markdown_shows_text_as_text_and_a_missing_value_as_a_dash():
    assert TABLE.to_markdown().splitlines() == [
        r"**Lengths \& shares**",
        "",
        "| side | messages | length (words) | p | survives |",
        "| --- | ---: | ---: | ---: | ---: |",
        r"| a\|b\_\<i\> | 1200 | -2.35 | \<0.001 | yes |",
        r"| 50% of \\x | – | – | – | – |",
        "",
        r"- no length: \*nothing\* was said",
    ]


def test_csv_is_unrounded_with_empty_fields_for_what_is_missing():
    rows = list(csv.reader(io.StringIO(TABLE.to_csv())))
    assert rows[0] == ["side", "messages", "length (words)", "p", "survives"]
    assert rows[1] == ["a|b_<i>", "1200", "-2.3456", "1e-05", "True"]
    assert rows[2][1:] == ["", "", "", ""]


def test_html_is_escaped_and_is_what_notebooks_show():
    html = table_html(TABLE)
    assert "a|b_&lt;i&gt;" in html
    assert "<i>" not in html
    assert "Lengths &amp; shares" in html


def test_rich_prints_markup_as_text():
    table = Table(title="[red]t[/red]", columns=(Column(name="[b]"),), rows=(("[/x]",),), notes=("[dim]",))
    assert [line.strip() for line in printed(table).splitlines()] == ["[red]t[/red]", "[b]", "[/x]", "[dim]"]


def test_rich_prints_the_headings_of_a_table_without_rows():
    table = Table(title="t", columns=COLUMNS, rows=())
    assert printed(table).split() == ["t", "side", "messages", "length", "(words)", "p", "survives"]


def test_a_frame_keeps_types_and_knows_missing_values():
    frame = TABLE.frame()
    assert list(frame.columns) == ["side", "messages", "length", "p", "survives"]
    assert [str(kind) for kind in frame.dtypes] == ["string", "Int64", "Float64", "Float64", "boolean"]
    assert frame["messages"].tolist()[0] == 1200
    assert frame["length"].isna().tolist() == [False, True]


def test_a_frame_without_pandas_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r'pandas is not installed: pip install "duologue\[stats\]"'):
        TABLE.frame()


def test_a_negative_nothing_has_no_sign():
    assert Column(name="x", kind="number", places=1).shown(-0.04) == "0.0"


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("number", float("nan")),
        ("number", float("inf")),
        ("number", True),
        ("count", 1.5),
        ("count", "1"),
        ("p", 1.2),
        ("text", 3),
        ("flag", 1),
    ],
)
def test_a_cell_that_its_column_cannot_hold_is_refused_by_name(kind, cell):
    with pytest.raises(ValidationError, match=f"is not a {kind} for column 'x'"):
        Table(title="t", columns=(Column(name="x", kind=kind),), rows=((cell,),))


def test_rows_and_columns_must_fit():
    with pytest.raises(ValidationError, match="row 1: has 2 cells for 1 columns"):
        Table(title="t", columns=(Column(name="x"),), rows=(("a", "b"),))
    with pytest.raises(ValidationError, match="columns of different names"):
        Table(title="t", columns=(Column(name="x"), Column(name="x")), rows=())


def test_rows_are_made_of_records_by_the_columns_names():
    columns = (Column(name="mean length", kind="number"), Column(name="n", kind="count"))
    table = Table.of("t", columns, [{"mean_length": 2, "n": 3}, {"mean_length": None, "n": 0}], ["none said"])
    assert table.rows == ((2, 3), (None, 0))
    assert table.notes == ("none said",)


def test_records_may_stand_side_by_side():
    table = Table.across("t", {"a": {"n": 1}, "b": {"n": 2}})
    assert [column.name for column in table.columns] == ["measure", "a", "b"]
    assert table.rows == (("n", 1, 2),)
    assert [column.name for column in Table.across("t", {}).columns] == ["measure"]


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_any_text_comes_back_from_csv_and_breaks_no_row(texts):
    table = Table(title="t", columns=(Column(name="a"), Column(name="b")), rows=tuple((t, "x") for t in texts))
    back = list(csv.reader(io.StringIO(table.to_csv(), newline="")))
    assert [row[0] for row in back[1:]] == texts
    lines = table.to_markdown().splitlines()
    assert len(lines) == 4 + len(texts)
    printed(table)


def test_a_table_without_rows_is_printed_as_its_heads():
    console = Console(width=60, file=io.StringIO())
    console.print(Table(title="t", columns=(Column(name="end"), Column(name="count")), rows=()).rich())
    assert {"end", "count"} <= set(console.file.getvalue().split())  # type: ignore[attr-defined]


def test_where_a_terminal_is_too_narrow_names_are_broken_and_numbers_are_not():
    names = ["a name", *(f"measure{number}" for number in range(7))]
    columns = tuple(Column(name=name, kind="number" if place else "text") for place, name in enumerate(names))
    table = Table(title="t", columns=columns, rows=(("abcdefghijklmnopqrst", *[-123.456] * 7),))
    out = io.StringIO()
    Console(width=72, file=out).print(table.rich())
    printed = out.getvalue()
    assert printed.count("-123.456") == 7
    assert max(map(len, printed.splitlines())) <= 72


def test_a_terminal_drops_the_columns_that_say_so_and_exports_have_all():
    table = Table(title="t", columns=(Column(name="name"), Column(name="n", wide=True)), rows=(("a", "1"), ("b", "1")))
    report = TablesReport(by_name={"rows": table})
    assert report.tables()[0].to_csv() == "name,n\na,1\nb,1\n"
    assert report.narrow()[0].to_csv() == "name\na\nb\n"
    assert TABLE.narrow() == TABLE
