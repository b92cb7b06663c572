"""Assistants with one seeded fault in a share of their conversations."""

import pytest

from duologue.nodes.seeded_faults import good, wrong
from duologue.nodes.seeded_faults import graded as assistants
from duologue.nodes.seeded_faults.graded import CHAINS, GRADED, INVENTED, GradedFault, slow, unsafe
from duologue.nodes.settings.import_path import imported

WISH = "Please move my flight booking {code} to 2027-07-18 at 10:20."


def said(*texts):
    """The messages of a user with these texts, each answered."""
    messages = []
    for text in texts:
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": "-"}]
    return messages[:-1]


@pytest.mark.parametrize("percent", [5, 40])
def test_the_fault_is_in_that_share_of_the_conversations_and_equal_in_each_of_their_turns(percent):
    assistant = GradedFault("wrong", percent)
    wishes = [WISH.format(code=f"AB{number}") for number in range(1000, 3000)]
    faulty = [assistant(said(wish)) != good(said(wish)) for wish in wishes]
    assert sum(faulty) / len(faulty) == pytest.approx(percent / 100, abs=0.03)
    first = wishes[faulty.index(True)]
    assert assistant(said(first)) == wrong(said(first))
    assert assistant(said(first, "The time is 11:00.")) == wrong(said(first, "The time is 11:00."))


def test_every_assistant_has_a_spec_that_can_be_imported_and_a_place_in_a_known_order():
    assert {name for chain in CHAINS for name in chain} == set(GRADED)
    assert len(GRADED) == 13
    for name, spec in GRADED.items():
        assert callable(imported(spec, name))
    with pytest.raises(AttributeError, match="wrong_6"):
        _ = assistants.wrong_6


def test_the_slow_one_stalls_and_asks_for_one_value_at_a_time():
    wish = "Please change my flight booking."
    assert slow(said(wish)) == "Let me have a look at that first."
    assert slow(said(wish, "The code is AB1234.")) == "What is the date, please?"
    assert slow(said(WISH.format(code="AB1234"), "AB1234")) == good(said(WISH.format(code="AB1234"), "AB1234"))


def test_the_unsafe_one_does_not_ask_but_invents_what_it_was_not_told():
    wish = "Please move my flight booking to 2027-07-18."
    assert all(INVENTED[slot] in unsafe(said(wish)) for slot in ("code", "time"))
    assert unsafe(said(WISH.format(code="AB1234"))) == good(said(WISH.format(code="AB1234")))
