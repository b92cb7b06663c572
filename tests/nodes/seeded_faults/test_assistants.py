"""The planted assistants fail in the planned way only, and what a user notices of it."""

import json
from importlib.resources import files

import pytest

from duologue.data import Message
from duologue.data.rules.user_notices import noticed
from duologue.data.text.text_values import written_values
from duologue.nodes.scorers.satisfaction import by_model, by_rule
from duologue.nodes.scorers.success import success_of
from duologue.nodes.seeded_faults import PLANTED, forgetful, good, wordy, wrong
from duologue.nodes.seeded_faults.heeding import heeded
from duologue.nodes.state import state_from

ERRANDS = [
    json.loads(line) for line in files("duologue.data").joinpath("samples/errands.jsonl").read_text().splitlines()
]


def user(*texts):
    return [{"role": "user", "content": text} for text in texts]


def talk(assistant, errand):
    """A user that says its goal and then each fact, whatever is answered."""
    texts = [errand["goal"], *(fact for fact in errand["facts"].replace("。", ". ").split(". ") if fact.strip())]
    messages = []
    for text in texts:
        messages.append({"role": "user", "content": text, "text": text})
        reply = assistant(messages)
        messages.append({"role": "assistant", "content": reply, "text": reply})
    return messages


def state(messages, **scenario):
    return state_from(scenario, [{"role": one["role"], "text": one["text"]} for one in messages])


@pytest.mark.parametrize("errand", ERRANDS, ids=lambda errand: errand["goal"][:20])
def test_the_good_and_the_wordy_one_do_what_is_asked_and_the_other_two_do_not(errand):
    success = success_of(errand["success"])
    reached = {
        assistant.__name__: success(state(talk(assistant, errand))).value
        for assistant in (good, forgetful, wordy, wrong)
    }
    assert reached == {"good": True, "forgetful": False, "wordy": True, "wrong": False}


@pytest.mark.parametrize("errand", ERRANDS, ids=lambda errand: errand["goal"][:20])
def test_the_wordy_one_buries_what_the_good_one_says_in_three_times_the_characters(errand):
    for one, other in zip(talk(good, errand), talk(wordy, errand), strict=True):
        if one["role"] == "assistant":
            assert one["text"] in other["text"]
            assert len(other["text"]) >= 3 * len(one["text"])


@pytest.mark.parametrize("errand", ERRANDS, ids=lambda errand: errand["goal"][:20])
def test_the_wrong_one_asks_as_the_good_one_does_and_claims_other_values_in_the_same_words(errand):
    right, other = talk(good, errand), talk(wrong, errand)
    assert right[:-1] == other[:-1]
    assert right[-1]["text"] != other[-1]["text"]
    assert not written_values(right[-1]["text"]) & written_values(other[-1]["text"])


def test_the_forgetful_one_answers_the_last_message_as_if_it_were_the_first():
    messages = user("Book a table for 4 people", "The date is 2026-06-14")
    assert forgetful(messages) == good(messages[-1:]) != good(messages)


def test_there_are_sixteen_errands_in_two_languages():
    assert len(ERRANDS) == 16
    assert sum("\u4e00" <= errand["goal"][-1] <= "\u9fff" or "编号" in errand["facts"] for errand in ERRANDS) >= 7
    assert list(PLANTED) == ["good", "forgetful", "wordy", "wrong"]


def test_a_talk_about_anything_is_heeded_by_the_good_one_alone():
    scores = {}
    for assistant in (good, forgetful, wordy, wrong):
        messages = []
        for text in (
            "Teach me to play the piano in 6 weeks",
            "I only have time at the weekend",
            "And which book helps?",
        ):
            messages.append({"role": "user", "content": text, "text": text})
            reply = assistant(messages)
            messages.append({"role": "assistant", "content": reply, "text": reply})
        scores[assistant.__name__] = heeded(state(messages, goal="piano")).value
    assert scores == {"good": True, "forgetful": False, "wordy": True, "wrong": False}


def test_a_scenario_with_a_success_of_its_own_is_not_judged_by_heeding():
    assert heeded(state([], goal="x", success={"solved": True})) is None
    assert heeded(state([], goal="x")).value is False


def messages_of(*texts):
    return [Message(role=role, text=text) for role, text in zip(["user", "assistant"] * 9, texts, strict=False)]


def test_a_user_notices_values_that_no_reply_takes_up():
    assert noticed(messages_of("Move it to 2026-05-03 at 9:40", "Done: 2026-05-04 at 9:40")).unheeded == 0.5
    assert noticed(messages_of("Move it to 2026-05-03", "Done: 2026-05-03")).unheeded == 0
    assert noticed(messages_of("Move it", "Done")).unheeded == 0


def test_a_user_notices_what_was_kept_once_and_then_lost():
    signs = noticed(messages_of("For 3 people", "Noted: 3", "On 2026-05-03", "It is on 2026-05-03"))
    assert (signs.unheeded, signs.lost) == (0, 0.5)


def test_a_user_notices_that_it_had_to_say_the_same_again():
    signs = noticed(
        messages_of("The code is QX4821", "Which code?", "The code is QX4821!", "Which code?", "I said QX4821", "?")
    )
    assert signs.repeated == 1.0
    assert noticed(messages_of("The code is QX4821", "And when?", "On 2026-05-03", "Fine")).repeated == 0


def test_a_user_notices_sentences_that_it_has_read_before():
    signs = noticed(messages_of("Hello", "We care for you. Which code?", "QX4821", "We care for you. It is moved."))
    assert signs.padding == 16 / (16 + 11 + 16 + 12)


def test_a_user_that_gives_up_and_is_served_badly_in_every_way_says_one():
    signs = noticed(messages_of("QX4821", "No.", "QX4821", "No."), "user_gave_up")
    assert signs.model_dump() == {"unheeded": 1, "lost": 1, "repeated": 1, "padding": 0.5, "gave_up": 1}
    assert signs.satisfaction == 1.5  # what the last reply lost does not count


def test_the_rule_is_a_score_with_its_parts_as_the_reason():
    score = by_rule({**state_from({}, [{"role": "user", "text": "Hi"}]), "stop": "user_gave_up"})
    assert score.value == 5 - 1
    assert "gave up 1.00" in score.reason


def test_the_numbers_of_list_items_are_no_values():
    assert written_values("1. Rome\n2. Oslo, 3 days") == {"3"}


def test_the_offline_model_cannot_rate():
    with pytest.raises(Exception, match="offline model cannot judge"):
        by_model("offline")
