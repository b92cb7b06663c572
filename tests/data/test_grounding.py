"""Answers in their section: what is found, what is rejected and why."""

import pytest

from duologue.data.grounding import MARKER, NO_ANSWER, Grounding, ground

SECTION = (
    "Aniston moved to New York City (the city of her mother) and worked as a waitress. "
    'In 1994 she was cast for "Friends", a sitcom on NBC. The show ran for ten years [1994-2004]. '
    "He joined NATO. She studied at MIT."
)


def texts(grounding: Grounding) -> list[str]:
    return [span.text for span in grounding.spans]


def assert_own_slices(grounding: Grounding, section: str) -> None:
    for span in grounding.spans:
        assert section[span.start : span.end] == span.text


@pytest.mark.parametrize("answer", ["NBC", "1994", "waitress", "New York", "ten years", "长"])
def test_answers_of_one_and_two_words_validate_whole(answer: str) -> None:
    assert texts(ground(answer, SECTION + " 长城")) == [answer]


def test_every_line_of_an_answer_is_grounded_and_none_is_lost() -> None:
    outcome = ground("a waitress\nten years\nNBC", SECTION)
    assert texts(outcome) == ["a waitress", "ten years", "NBC"]


def test_a_line_that_is_not_in_the_section_is_named_and_the_answer_rejected() -> None:
    outcome = ground("a waitress\na singer\nNBC\nan actor", SECTION)
    assert outcome.reason == "partly"
    assert outcome.failed == ("a singer", "an actor")
    assert outcome.spans == ()


def test_the_case_that_is_stored_is_the_sections_own() -> None:
    assert texts(ground("HE JOINED nato", SECTION)) == ["He joined NATO"]


@pytest.mark.parametrize(
    ("answer", "section"),
    [
        ("STRASSE", "die Straße hier"),
        ("die straße", "Die STRASSE hier"),
        ("ʼN", "so ŉ man"),
    ],
)
def test_letters_that_change_their_length_with_case_keep_offsets_right(answer: str, section: str) -> None:
    outcome = ground(answer, section)
    assert outcome.valid
    assert_own_slices(outcome, section)
    assert outcome.spans[0].text.casefold() == answer.casefold()


@pytest.mark.parametrize(
    "answer",
    [
        "ten years (2004-1994)",
        "ten (10) years",
        "(ten years",
        "ten years]",
        "NBC ()",
        "moved to New York City and worked",
    ],
)
def test_text_in_brackets_that_only_the_answer_or_the_section_has_is_rejected(answer: str) -> None:
    assert not ground(answer, SECTION).valid


@pytest.mark.parametrize("answer", ["", " ", "\n\n", "...", "?!", "()", "“”", "—", "(" * 50])
def test_an_answer_without_a_letter_or_digit_is_empty(answer: str) -> None:
    assert ground(answer, SECTION).reason == "empty"


def test_sentences_of_one_line_that_touch_in_the_section_are_one_span() -> None:
    outcome = ground("A sitcom on NBC. He joined NATO. She studied at MIT.", SECTION)
    assert texts(outcome) == ["a sitcom on NBC.", "He joined NATO. She studied at MIT."]


def test_an_answer_from_the_background_is_told_apart() -> None:
    background = "Aniston was born in Sherman Oaks. Her father is Greek."
    outcome = ground("born in sherman oaks", SECTION, background)
    assert outcome.reason == "in_background"
    assert outcome.failed == ("born in sherman oaks",)
    assert ground("Her father is Greek. Aniston was born", SECTION, background).reason == "in_background"


def test_a_part_from_the_background_beside_one_from_the_section_is_partly() -> None:
    outcome = ground("He joined NATO.\nHer father is Greek.", SECTION, "Her father is Greek.")
    assert outcome.reason == "partly"
    assert outcome.failed == ("Her father is Greek.",)


@pytest.mark.parametrize(
    "answer",
    [
        "ten years.",
        '"ten years"',
        "“ten years”",
        "- ten years",
        "'ten years!'",
        "…ten years?",
        "—ten years:",
        "«ten years»",
    ],
)
def test_punctuation_at_the_edges_makes_no_difference(answer: str) -> None:
    assert texts(ground(answer, SECTION)) == ["ten years"]


@pytest.mark.parametrize("answer", ["ten, years", "ten - years", "on NBC The", "cast for Friends"])
def test_punctuation_inside_an_answer_does_make_a_difference(answer: str) -> None:
    assert not ground(answer, SECTION).valid


@pytest.mark.parametrize("answer", ["Anist", "niston", "NAT", "aitress", "99", "he city", "cas"])
def test_a_part_of_a_word_is_not_found(answer: str) -> None:
    assert ground(answer, SECTION).reason == "not_in_section"


def test_chinese_has_no_word_boundaries() -> None:
    outcome = ground("修建了山海关", "洪武十四年（1381年），大将徐达修建了山海关。")
    assert texts(outcome) == ["修建了山海关"]
    assert texts(ground("1381", "洪武十四年（1381年）")) == ["1381"]
    assert not ground("138", "洪武十四年（1381年）").valid


def test_then_the_first_place_behind_the_previous_span_comes() -> None:
    section = "may be. He ran far. It may. She may."
    assert [span.start for span in ground("He ran\nmay", section).spans] == [8, 23]
    assert [span.start for span in ground("She\nmay\nHe ran", section).spans] == [28, 32, 8]


def test_the_same_case_counts_more_than_the_order() -> None:
    assert [span.start for span in ground("He ran\nMay", "May be. He ran. It may.").spans] == [8, 0]


def test_a_section_of_several_lines_is_searched_as_a_whole() -> None:
    section = "The female lays an egg.\nThe male keeps it warm.\n\nShe returns."
    assert texts(ground("The male keeps it warm. She returns.", section)) == ["The male keeps it warm.\n\nShe returns."]
    assert texts(ground("an egg. The male", section)) == ["an egg.\nThe male"]


@pytest.mark.parametrize(
    "answer",
    [
        NO_ANSWER,
        "Sorry, I cannot find the answer.",
        "i cannot find the answer",
        "I CANNOT FIND THE ANSWER!",
        "“I cannot find the answer.”",
        "  I cannot find the answer. \n",
        "I can't find the answer.",
        "I can’t find an answer to the question in the section.",
        "I'm sorry, but I could not find the answer.",
        MARKER,
    ],
)
def test_a_text_that_is_a_refusal_as_a_whole_is_one(answer: str) -> None:
    outcome = ground(answer, SECTION)
    assert outcome.refused
    assert outcome.valid
    assert outcome.spans == ()


@pytest.mark.parametrize(
    "answer",
    [
        "I cannot find the answer. He joined NATO.",
        "He joined NATO. I cannot find the answer.",
        "I cannot find the answer, but he joined NATO",
        "She said that I cannot find the answer",
    ],
)
def test_a_refusal_with_something_else_is_none(answer: str) -> None:
    outcome = ground(answer, SECTION)
    assert not outcome.refused
    assert not outcome.valid


def test_a_span_that_speaks_like_a_refusal_is_a_span() -> None:
    section = "Critics say the text does not hold. I cannot find the answer in my heart, she sang."
    assert texts(ground("the text does not hold", section)) == ["the text does not hold"]
    assert texts(ground("I cannot find the answer in my heart", section)) == ["I cannot find the answer in my heart"]
