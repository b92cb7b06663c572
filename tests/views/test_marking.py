"""Where facts of a scenario come up."""

from hypothesis import given
from hypothesis import strategies as st

from duologue.views.marking import marked


def shown(text, *phrases):
    return [(mark.text, mark.label) for mark in marked(text, [("L", phrase) for phrase in phrases])]


def test_a_fact_is_found_in_the_first_person_and_with_other_endings():
    assert shown("I travel only in winter, by bus.", "Travels only in winter") == [
        ("I ", None), ("travel only in winter", "L"), (", by bus.", None)
    ]  # fmt: skip
    assert shown("I bake my own bread", "Bakes his own bread")[1] == ("bake my own bread", "L")
    assert shown("As I am married", "is married")[1] == ("am married", "L")
    assert shown("I like cities and studying", "a city", "studies") == [("I like cities and ", None), ("studying", "L")]
    assert shown("The business case", "bus") == [("The business case", None)]
    assert shown("I go by night train and do sport.", "Goes by night train", "Does sport") == [
        ("I ", None), ("go by night train", "L"), (" and ", None), ("do sport", "L"), (".", None),
    ]  # fmt: skip


def test_a_phrase_is_marked_as_whole_words_in_any_case():
    assert shown("Chess, chessboard, unchess and CHESS", "chess") == [
        ("Chess", "L"), (", chessboard, unchess and ", None), ("CHESS", "L")
    ]  # fmt: skip
    assert shown("C++ (C++)", "c++") == [("C++", "L"), (" (", None), ("C++", "L"), (")", None)]


def test_the_longest_phrase_is_preferred_and_one_character_says_nothing():
    assert shown("slow food", "food", "slow food", "s") == [("slow food", "L")]


def test_a_phrase_that_no_message_repeats_for_its_length_is_not_marked():
    assert shown("ab " * 334, "ab " * 333)[0][1] == "L"
    assert shown("ab " * 334, "ab " * 334) == [("ab " * 334, None)]


def test_a_script_without_spaces_has_no_word_ends():
    assert shown("我喜欢喝茶的", "喝茶") == [("我喜欢", None), ("喝茶", "L"), ("的", None)]


@given(st.text(alphabet="ab .<", max_size=40), st.lists(st.text(alphabet="ab .<", max_size=4), max_size=4))
def test_together_the_marks_are_the_text(text, phrases):
    assert "".join(mark.text for mark in marked(text, [("L", phrase) for phrase in phrases])) == text
