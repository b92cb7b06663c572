"""Drafts of profiles: what is taken off, what is rejected, and why."""

import pytest

from duologue.data.recllmsim import Profile, shipped_profiles
from duologue.data.recllmsim.profiles import proposed_profile
from tests.data.recllmsim.small_files import ANNA


def judged(text, there=(), language="en"):
    answer = proposed_profile(text, [Profile.of(one) for one in there], language)
    return answer if isinstance(answer, tuple) else answer.text(language)


@pytest.mark.parametrize(
    "wrapped",
    [
        ANNA,
        f"Here is a person:\n\n{ANNA}\n\nI hope that this helps!",
        ANNA.replace("1. Gender:", "**1. Gender:**").replace("9. Other Aspects:", "- 9. Other Aspects:"),
        f"```\n{ANNA}\n```",
        ANNA.replace("\n", "\n\n"),
        ANNA.replace("4. Occupation", "4. Job"),
    ],
)
def test_what_stands_around_a_profile_is_taken_off(wrapped):
    assert judged(wrapped) == ANNA


@pytest.mark.parametrize(
    ("text", "reason", "words"),
    [
        ("I cannot do that.", "empty", ""),
        (ANNA.replace("2. Age: 31\n", ""), "incomplete", "Age"),
        (ANNA.replace("Frugal", "N/A"), "incomplete", "Spending Habits"),
        (ANNA.replace("Frugal", ""), "incomplete", "Spending Habits"),
        (ANNA.replace("31", "thirty"), "incomplete", "age"),
        (ANNA.replace("31", "300"), "incomplete", "10-100"),
        (f"{ANNA}\n\n{ANNA}", "incomplete", "twice"),
        (shipped_profiles("zh").texts[0], "language", ""),
    ],
)
def test_each_reason_says_what_was_wrong(text, reason, words):
    rejection = judged(text)
    assert rejection[0] == reason
    assert words in rejection[1]


def test_a_near_duplicate_is_rejected_with_the_profile_that_it_is_like():
    like = ANNA.replace("31", "58").replace("Female", "Male").replace("Chess", "Painting")
    assert judged(like, [shipped_profiles().texts[0], ANNA]) == ("near_duplicate", ANNA)
    assert judged(like, shipped_profiles().texts) == like
