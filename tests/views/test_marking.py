"""Facts of a scenario, and where they come up."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.views.marking import facts, marked


def shown(text, *phrases):
    return [(mark.text, mark.label) for mark in marked(text, [("L", phrase) for phrase in phrases])]


def test_a_preference_tells_a_fact_for_each_value_of_a_line_and_a_profile_for_each_text_in_it():
    scenario = {
        "preference": "1. Age: 21\n2. Habits: hiking, slow food, and chess.\nno fact here",
        "profile": {"daily_hobbies": [{"en": "Tea", "zh": "喝茶"}], "age": 21, "gone": None},
    }
    assert facts(scenario) == (
        ("daily hobbies", "Tea"), ("daily hobbies", "喝茶"), ("age", "21"),
        ("Age", "21"), ("Habits", "hiking"), ("Habits", "slow food"), ("Habits", "chess"),
    )  # fmt: skip
    assert facts({"kind": "simquac", "profile": "text", "preference": 3}) == ()


def test_a_phrase_is_marked_as_whole_words_in_any_case():
    assert shown("Chess, chessboard, unchess and CHESS", "chess") == [
        ("Chess", "L"), (", chessboard, unchess and ", None), ("CHESS", "L")
    ]  # fmt: skip
    assert shown("C++ (C++)", "c++") == [("C++", "L"), (" (", None), ("C++", "L"), (")", None)]


def test_the_longest_phrase_is_preferred_and_one_character_says_nothing():
    assert shown("slow food", "food", "slow food", "s") == [("slow food", "L")]


def test_a_script_without_spaces_has_no_word_ends():
    assert shown("我喜欢喝茶的", "喝茶") == [("我喜欢", None), ("喝茶", "L"), ("的", None)]


@given(st.text(alphabet="ab .<", max_size=40), st.lists(st.text(alphabet="ab .<", max_size=4), max_size=4))
def test_together_the_marks_are_the_text(text, phrases):
    assert "".join(mark.text for mark in marked(text, [("L", phrase) for phrase in phrases])) == text
