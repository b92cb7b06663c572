"""The report as a table, for the terminal and for exports, and as a data frame."""

import io

import pytest

from duologue.analysis.realism import RealismReport, RealismRow
from duologue.analysis.realism.records import ReferenceRow, TaskRow
from duologue.analysis.realism.report import SideSummary
from duologue.analysis.realism.statistics.auc import Discriminator, FamilyAuc, Interval

SIDE = SideSummary(conversations=2, compared=2, users=2, tasks={"a": 1, "b": 1}, translated=0, digest="d")


def row(name, *effects, **more):
    """A ranked row, with these effects in tasks."""
    words = dict.fromkeys(("family", "unit", "definition", "source", "direction"), "words")
    tasks = tuple(
        TaskRow(task=f"{number}", sim=0.5, human=0.5, effect=effect, p=1.0, p_adjusted=1.0)
        for number, effect in enumerate(effects)
    )
    fields = {
        "effect": 0.5,
        "excess": 0.25,
        "distance": 12.25,
        "floor": 0.25,
        "sim": 143.125,
        "human": 32.5,
        "p": 0.001,
    }
    return RealismRow(
        **(words | {"name": name, "survives_translation": True, "tasks": tasks, "p_adjusted": 0.0001} | fields | more)
    )


def report(*rows, **changes):
    nothing = Interval(value=None, reason="few")
    return RealismReport(
        **{
            "language": "en", "part": "all", "seed": 0, "sim": SIDE, "human": SIDE, "published": None,
            "tasks": ("a", "b"), "notes": (), "measures": rows,
            "discriminator": Discriminator(auc=nothing, floor=nothing),
        } | changes
    )  # fmt: skip


def column(table, name):
    number = [column_of_table.name for column_of_table in table.columns].index(name)
    return [cells[number] for cells in table.rows]


def test_the_largest_effect_of_a_reference_stands_beside_that_of_the_simulated_users():
    references = [
        ReferenceRow(
            name=name, mean=0.5, effect=0.5, distance=0.5, effect_from_people=distance, distance_from_people=0.5
        )
        for name, distance in (("one", 0.25), ("two", 0.75), ("three", None), ("four", -0.8))
    ]
    table = report(row("turns", references=tuple(references)), references={"one": SIDE, "two": SIDE}).table()
    names = [shown.name for shown in table.columns]
    assert column(table, "people") == [0.8]
    assert names.index("people") == names.index("high") + 1
    assert column(report(row("turns", floor_effect_high=0.2)).table(), "people") == [0.2]


def test_the_finding_is_what_interval_and_p_come_to():
    other = {"name": "others", "mean": 0.5, "effect": 0.5, "distance": 0.5, "effect_from_people": 0.25}
    other |= {"distance_from_people": 0.5, "effect_from_people_low": 0.2, "effect_from_people_high": 0.3}
    inside = {"effect_low": -0.1, "effect_high": 0.15, "references": (ReferenceRow(**other),)}
    assert row("a", p_adjusted=0.4, **inside).finding == "within people's own spread"
    assert row("a", **inside).finding == "differs, within people's own spread"
    assert row("a", **inside | {"effect_low": -0.2}).finding == "differs"
    # Halves of people differ by chance only, and so does a reference whose interval holds 0 or is wide.
    for low, high, finding in (
        (-0.3, -0.2, "within people's own spread"),
        (0.1, 0.9, "undecided"),
        (-0.4, 0.9, "undecided"),
    ):
        reference = ReferenceRow(**other | {"effect_from_people_low": low, "effect_from_people_high": high})
        assert row("a", **inside | {"references": (reference,)}, p_adjusted=0.4).finding == finding
    halves = {"effect_low": -0.1, "effect_high": 0.15, "floor_effect_high": 0.5, "p_adjusted": 0.4}
    assert row("a", **halves).finding == "undecided"
    few = {"no_interval": "too few users for an interval: too few of them differ from the most frequent value"}
    assert row("a", **few).finding == "too few users"
    assert row("a", **few, p_adjusted=0.4).finding == "undecided"
    assert row("a", p_adjusted=0.4, detectable=0.312, sim_users=12, human_users=30).finding == (
        "undecided: 12 and 30 users miss effects below 0.31"
    )
    assert row("a", p_adjusted=0.4, detectable=1.0).finding == "undecided"
    assert row("a", p_adjusted=None).finding == ""


def test_measures_without_an_interval_are_named_in_one_line_with_the_reason():
    rows = (row("emoji", no_interval="too few users"), row("apology", no_interval="too few users"), row("turns"))
    assert report(*rows).table().notes == ("emoji, apology: too few users.",)


def test_the_number_of_ranked_measures_stands_with_how_many_uncorrelated_ones_they_count_as():
    rows = (row("turns"), row("thanks"), row("praise", apart="translation"))
    assert report(*rows, effective_measures=1.26).table().notes == (
        "Measures are correlated: the 2 ranked ones count as 1.3 that are not.",
    )


def test_the_widest_table_is_whole_in_a_terminal_of_100_columns():
    from rich.console import Console

    reference = ReferenceRow(
        name="one", mean=0.5, effect=0.5, distance=0.5, effect_from_people=0.5, distance_from_people=0.25
    )
    rows = (row("self-repetition", -0.66, 0.24, references=(reference,), published=12.25),
            row("hallucination", apart="annotation"), row("punctuation", apart="translation"))  # fmt: skip
    file = io.StringIO()
    Console(width=100, file=file).print(report(*rows, published=SIDE, references={"one": SIDE}).table().rich())
    printed = file.getvalue()
    for word in ("self-repetition", "hallucination", "people", "published", "annotation", "translation", "143.125"):
        assert word in printed


def test_the_auc_without_length_is_that_without_the_family_of_shape():
    nothing = Interval(value=0.5)
    families = (
        FamilyAuc(family="ending", alone=0.9, without=0.75),
        FamilyAuc(family="shape", alone=1.0, without=0.625),
    )
    assert Discriminator(auc=nothing, floor=nothing, families=families).without_length == 0.625
    assert Discriminator(auc=nothing, floor=nothing, families=families[:1]).without_length is None


def test_the_family_of_length_is_one_that_measures_have():
    from duologue.analysis.realism.measures import MEASURES
    from duologue.analysis.realism.statistics.auc import LENGTH

    assert {"turns", "message length"} <= {measure.name for measure in MEASURES if measure.family == LENGTH}


def test_a_data_frame_holds_what_stands_in_records_of_their_own():
    pytest.importorskip("pandas")
    frame = report(row("turns", -0.66, 0.24), row("thanks")).frame().set_index("name")
    assert frame.loc["turns", ["smallest_in_task", "largest_in_task"]].tolist() == [-0.66, 0.24]
    assert frame.loc["thanks", ["smallest_in_task", "between_references"]].isna().all()
    assert not {"tasks", "examples_sim", "references"} & set(frame.columns)


def test_in_80_columns_no_word_is_broken_and_a_note_names_the_columns_that_are_left_out():
    from rich.console import Console

    rows = (row("self-repetition", -0.66, 0.24, published=12.25, effect_low=-0.5, effect_high=-0.25),
            row("strategy V3 context dependency", apart="translation", p_adjusted=0.4, detectable=0.2))  # fmt: skip
    both = report(*rows, published=SIDE, made=SIDE)
    table = both.table(width=80)
    file = io.StringIO()
    Console(width=80, file=file).print(table.rich())
    printed = file.getvalue().split()
    for word in ("self-repetition", "dependency", "translation", "undecided:", "143.125", "-0.50", "people"):
        assert word in printed
    beyond = "published, made, p adjusted"
    assert table.notes[0] == f"In a terminal of 120 columns, in --json and in --out: {beyond}."
    assert {column.heading for column in both.table().columns} - {column.heading for column in table.columns} == set(
        beyond.split(", ")
    )
    assert not any("terminal" in note for note in both.table().notes)
