"""All tables at once: JSON, forms, figures, and input of which there is nothing to count."""

import json
import math

import pytest

from duologue.analysis.figures import rendered
from duologue.analysis.recllmsim import recllmsim_statistics
from duologue.analysis.recllmsim.figures import recllmsim_figures
from duologue.data import load


def numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for one in value for number in numbers(one)]
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize("folder", ["recllmsim", "recllmsim_human_vs_agent"])
def test_every_table_of_the_open_data_can_be_had_in_every_form(open_data, folder):
    told = recllmsim_statistics(load(open_data / folder))
    value = json.loads(json.dumps(told.to_json(), allow_nan=False))
    assert [*value] == [*type(told).model_fields, "notes"]
    assert all(map(math.isfinite, numbers(value)))
    for name, table in zip(told.by_name(), told.tables(), strict=True):
        assert len(table.rows) == len(value[name]) > 0
        assert table.to_csv().count("\n") == len(table.rows) + 1
        assert r"\begin{tabular}" in table.to_latex()
        assert table.to_markdown().count("\n|") == len(table.rows) + 2
    assert set(recllmsim_figures(told)) == {
        "quality_by_turns",
        "quality_by_questionnaire",
        "hallucination",
        "satisfaction_by_turn",
    }


def test_no_conversation_one_silent_one_and_one_user_give_tables_that_say_so(simulated, person):
    for given in ([], [simulated("")], [simulated("a")], [person()], [person(profile={})]):
        told = recllmsim_statistics(given)
        json.dumps(told.to_json(), allow_nan=False)
        for rows in told.by_name().values():
            assert rows.rows or rows.notes
            assert rows.table().to_csv()
        for figure in recllmsim_figures(told).values():
            assert rendered(figure).startswith(b"<?xml")
    assert all(
        rows.notes == ("There is no task-oriented conversation.",)
        for rows in recllmsim_statistics([]).by_name().values()
    )


def test_variants_in_one_sequence_are_told_apart(open_data):
    told = recllmsim_statistics(load(open_data / "recllmsim/real_human_user"))
    assert {row.side for row in told.counts.rows} == {"people"}
    assert {row.assistant for row in told.quality_by_questionnaire.rows} == {"not told"}
    assert told.quality_by_turns.rows == told.satisfaction_by_turn.rows == ()
