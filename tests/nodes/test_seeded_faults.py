"""The planted assistants fail in the planned way only, and what a user notices of it."""

import json
from importlib.resources import files

import pytest

from duologue.data import Message
from duologue.data.rules.notices import noticed
from duologue.data.text.values import written_values
from duologue.nodes.judges import by_model, by_rule
from duologue.nodes.seeded_faults import forgetful, good, heeded, wordy, wrong
from duologue.nodes.state import state_from
from duologue.nodes.success import success_of

ASSISTANTS = {"good": good, "forgetful": forgetful, "wordy": wordy, "wrong": wrong}
REACH = {"good": True, "forgetful": False, "wordy": True, "wrong": False}
ERRANDS = [json.loads(one) for one in files("duologue.data").joinpath("samples/errands.jsonl").read_text().splitlines()]


def talk(assistant, *texts):
    """A user that says these texts, whatever is answered."""
    messages = []
    for text in texts:
        messages.append({"role": "user", "content": text})
        messages.append({"role": "assistant", "content": assistant(messages)})
    return messages


def state(messages, **scenario):
    return state_from(scenario, [{"role": one["role"], "text": one["content"]} for one in messages])


def of_errand(errand):
    """Its goal, and then each fact."""
    return [errand["goal"], *(fact for fact in errand["facts"].replace("。", ". ").split(". ") if fact.strip())]


@pytest.mark.parametrize("errand", ERRANDS, ids=lambda errand: errand["goal"][:20])
def test_the_good_and_the_wordy_one_do_what_is_asked_and_each_other_one_fails_in_its_own_way(errand):
    talks = {name: talk(assistant, *of_errand(errand)) for name, assistant in ASSISTANTS.items()}
    success = success_of(errand["success"])
    assert {name: success(state(messages)).value for name, messages in talks.items()} == REACH
    for one, other in zip(talks["good"][1::2], talks["wordy"][1::2], strict=True):
        assert one["content"] in other["content"]
        assert len(other["content"]) >= 3 * len(one["content"])
    *asked, done = talks["good"]
    *also_asked, claimed = talks["wrong"]
    assert asked == also_asked
    assert not written_values(done["content"]) & written_values(claimed["content"])


def test_a_talk_about_anything_is_heeded_by_the_good_and_the_wordy_one_where_no_success_says_otherwise():
    wishes = ("Teach me to play the piano in 6 weeks", "I only have time at the weekend", "And which book helps?")
    talks = {name: talk(assistant, *wishes) for name, assistant in ASSISTANTS.items()}
    assert {name: heeded(state(messages, goal="piano")).value for name, messages in talks.items()} == REACH
    assert heeded(state([], goal="x", success={"solved": True})) is None
    assert heeded(state([], goal="x")).value is False


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("Move it to 2026-05-03 at 9:40", "Done: 2026-05-04 at 9:40"), {"unheeded": 0.5}),
        (("Move it to 2026-05-03", "Done: 2026-05-03"), {"unheeded": 0}),
        (("Move it", "Done"), {"unheeded": 0}),
        (("For 3 people", "Noted: 3", "On 2026-05-03", "It is on 2026-05-03"), {"unheeded": 0}),
        (("Code QX4821", "Which code?", "Code QX4821!", "Which code?", "I said QX4821", "?"), {"repeated": 1}),
        (("The code is QX4821", "And when?", "On 2026-05-03", "Fine"), {"repeated": 0}),
        (
            ("Hello", "We care for you. Which code?", "QX4821", "We care for you. It is moved."),
            {"padding": 16 / (16 + 11 + 16 + 12)},
        ),
    ],
)
def test_a_user_notices_what_no_reply_takes_up_and_what_is_said_twice(texts, expected):
    roles = ("user", "assistant") * 3
    signs = noticed([Message(role=role, text=text) for role, text in zip(roles, texts, strict=False)])
    assert signs.model_dump() | expected == signs.model_dump()


def test_a_user_that_gives_up_and_is_served_badly_in_every_way_says_one():
    served = [Message(role=role, text=text) for role, text in (("user", "QX4821"), ("assistant", "No.")) * 2]
    signs = noticed(served, "user_gave_up")
    assert signs.model_dump() == {"unheeded": 1, "repeated": 1, "padding": 0.5, "gave_up": 1}
    assert signs.satisfaction == 1.5
    score = by_rule({**state_from({}, [{"role": "user", "text": "Hi"}]), "stop": "user_gave_up"})
    assert (score.value, "gave up 1.00" in score.reason) == (5 - 1, True)
    with pytest.raises(Exception, match="offline model cannot judge"):
        by_model("offline")


def test_the_numbers_of_list_items_are_no_values():
    assert written_values("1. Rome\n2. Oslo, 3 days") == {"3"}
