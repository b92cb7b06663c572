"""All tables at once: JSON, forms, figures, and input of which there is nothing to count."""

import json
import math

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

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


@pytest.mark.heavy
@pytest.mark.parametrize("folder", ["recllmsim", "recllmsim_human_vs_agent"])
def test_every_table_of_the_open_data_can_be_had_in_every_form(open_data, folder):
    statistics = recllmsim_statistics(load(open_data / folder))
    value = json.loads(json.dumps(statistics.to_json(), allow_nan=False))
    assert [*value] == [*type(statistics).model_fields, "notes"]
    assert all(map(math.isfinite, numbers(value)))
    for name, table in zip(statistics.by_name(), statistics.tables(), strict=True):
        assert len(table.rows) == len(value[name]) > 0
        assert table.to_csv().count("\n") == len(table.rows) + 1
        assert r"\begin{tabular}" in table.to_latex()
        assert table.to_markdown().count("\n|") == len(table.rows) + 2
    assert set(recllmsim_figures(statistics)) == {
        "quality_by_turns",
        "quality_by_questionnaire",
        "hallucination",
        "satisfaction_by_turn",
    }


@pytest.mark.heavy
def test_no_conversation_one_silent_one_and_one_user_give_tables_that_say_so(simulated, person):
    for conversations in ([], [simulated("")], [simulated("a")], [person()], [person(profile={})]):
        statistics = recllmsim_statistics(conversations)
        json.dumps(statistics.to_json(), allow_nan=False)
        for rows in statistics.by_name().values():
            assert rows.rows or rows.notes
            assert rows.table().to_csv()
        for figure in recllmsim_figures(statistics).values():
            assert rendered(figure).startswith(b"<?xml")
    assert all(
        rows.notes == ("There is no task-oriented conversation.",)
        for rows in recllmsim_statistics([]).by_name().values()
    )


def test_variants_in_one_sequence_are_told_apart(open_data):
    statistics = recllmsim_statistics(load(open_data / "recllmsim/real_human_user"))
    assert {row.side for row in statistics.counts.rows} == {"people"}
    assert {row.assistant for row in statistics.quality_by_questionnaire.rows} == {"not told"}
    assert statistics.quality_by_turns.rows == statistics.satisfaction_by_turn.rows == ()


NAMES = st.sampled_from(
    ["rating", "satisfaction", "questionnaire", "strategy", "strategy_V1", "profile_mapped", "chat_model", "intent", "hallucination", "final", "Personality", "Age", "age", "personality", "summary", "option", "zh", "en", ""]
)  # fmt: skip
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.heavy
@drawn(st.dictionaries(NAMES, ODD, max_size=5), st.dictionaries(NAMES, ODD, max_size=3), st.dictionaries(NAMES, ODD))
def test_annotations_of_any_shape_are_counted_or_left_out_and_break_nothing(
    simulated, person, labels, of_message, profile
):
    messages = {0: of_message, 1: of_message}
    statistics = recllmsim_statistics(
        [simulated("uaua", messages=messages, **labels), person("ua", messages=messages, profile=profile, **labels)]
    )
    json.dumps(statistics.to_json(), allow_nan=False)
    assert len(statistics.tables()) == len(statistics.by_name())
