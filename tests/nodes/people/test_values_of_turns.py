"""Values in people's turns: whose they are, what stands in their place, and what nobody says."""

import pytest

from duologue.nodes.people.slots import values_in
from tests.nodes.people.donors import of_user, origins, simulate, talk


def of_log(*texts):
    """A log of alternating messages, the user's first: nothing but its messages is known."""
    return talk(*texts).model_copy(update={"scenario": {"kind": "messages", "digest": "d"}})


@pytest.mark.parametrize(
    ("goal", "question"),
    [
        ("a trip to Lisbon for 5 days in May", "I go to Lisbon for 5 days, what is there in May?"),
        ("a trip to Ghent for 3 days in June", "I go to Ghent for 3 days, what is there in June?"),
    ],
)
def test_slots_are_filled_from_the_task_where_they_are_certain(goal, question):
    donor = talk("I go to Lisbon for 5 days, what is there in May?", "Much.", goal="a trip to Lisbon for 5 days in May")
    conversation = simulate([donor], goal)
    assert of_user(conversation) == [question]
    assert [new for _, new in origins(conversation)[0].get("filled", [])] == [
        new for old, new in (("Lisbon", "Ghent"), ("5 days", "3 days"), ("May", "June")) if old not in question
    ]


def test_a_turn_whose_slot_is_uncertain_gives_way_to_another():
    unsure, plain = (
        talk(text, "Much.", goal="a trip to Lisbon or to Porto", user=user)
        for user, text in (("ann", "I go to Lisbon, what is there?"), ("bob", "What is there to see?"))
    )
    assert of_user(simulate([unsure, plain], "a trip to Ghent")) == ["What is there to see?"]


MOVES = {
    "en": ("Move my flight.", "Code?", "Sure, it is ZZ7777.", "Date?", "Please move it to 3 May.", "Done."),
    "zh": ("我要改签航班。", "单号？", "单号是 ZZ7777。", "哪天？", "请改到5月3日。", "好的。"),
}


@pytest.mark.parametrize(
    ("language", "facts", "texts"),
    [
        ("en", ["QX4821, please.", "To 7 June."], ["Sure, it is QX4821.", "Please move it to 7 June."]),
        ("en", {"code": "QX4821", "date": "2026-06-07"}, ["Sure, it is QX4821.", "Please move it to 2026-06-07."]),
        ("zh", ["订单号 QX4821", "改到六月七日"], ["单号是 QX4821。", "请改到六月七日。"]),
    ],
)
def test_a_turn_of_a_log_has_the_values_of_the_scenario_in_place_of_its_own(language, facts, texts):
    pytest.importorskip("jieba")
    scenario = {"first_message": MOVES[language][0], "facts": facts}
    conversation = simulate([of_log(*MOVES[language])], scenario, assistant=lambda messages: "Yes?")
    assert of_user(conversation)[1:] == texts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("to the 7th of June", "7th of June"),
        ("on 2026-06-07", "2026-06-07"),
        ("改到2026年6月7日", "2026年6月7日"),
        ("at 19:30", "19:30"),
        ("for $500", "$500"),
        ("to ann@host.example please", "ann@host.example"),
        ("电话13812345678", "13812345678"),
        ("call +49 171 2345678", "+49 171 2345678"),
        ("my order number is 4711", "4711"),
        ("order #4711", "4711"),
        ("May I go to the lake?", ""),
    ],
)
def test_a_date_a_time_an_address_or_a_code_is_one_value(text, value):
    assert [one.text for one in values_in(text)] == ([value] if value else [])


PERSONAL = ("My order number is 4711.", "Call me on 0171 2345678.", "I am ann@host.example.", "It is booking ZZ7777.")


@pytest.mark.parametrize("own", PERSONAL)
def test_a_turn_with_somebodys_own_value_is_sent_to_nobody(own):
    donor = of_log("Cancel my order.", "Details?", f"Sure. {own} Thank you!", "Done.")
    conversation = simulate([donor], {"first_message": "Cancel my order."}, assistant=lambda messages: "Yes?")
    assert of_user(conversation)[1:] == []
    assert values_in(own)[-1].text not in str(conversation.model_dump())


@pytest.mark.untraced
@pytest.mark.parametrize("piece", ["1", "王", "A ", "1,", "www.", "a@", "我叫"])
def test_a_long_odd_text_is_looked_at_like_any_other(piece):
    text = piece * (50_000 // len(piece))
    assert len(values_in(text)) <= len(text)
