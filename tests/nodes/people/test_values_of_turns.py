"""Values in people's turns: whose they are, what stands in their place, and what nobody says."""

import pytest

import duologue
from duologue.graphs import agent_test
from duologue.nodes.people import PeopleOptions, PeopleSpeaker
from duologue.nodes.people.names import is_personal, masked
from duologue.nodes.people.slots import values_in
from duologue.nodes.people.turns import asked_in
from tests.nodes.people.donors import STEADY, of_log, of_user, origins, simulate, talk


@pytest.mark.parametrize(
    ("goal", "question"),
    [
        ("a trip to Lisbon for 5 days in May", "I go to Lisbon for 5 days, what is there in May?"),
        ("a trip to Ghent for 5 days in May", "I go to Ghent for 5 days, what is there in May?"),
        ("a trip to Ghent for 3 days in June", "I go to Ghent for 3 days, what is there in June?"),
    ],
)
def test_slots_are_filled_from_the_task_where_they_are_certain(goal, question):
    donor = talk("I go to Lisbon for 5 days, what is there in May?", "Much.", goal="a trip to Lisbon for 5 days in May")
    conversation = simulate([donor], goal=goal)
    assert of_user(conversation) == [question]
    assert [new for _, new in origins(conversation)[0].get("filled", [])] == [
        new for old, new in (("Lisbon", "Ghent"), ("5 days", "3 days"), ("May", "June")) if old not in question
    ]


MOVES = {
    "en": ("Move my flight.", "Code?", "Sure, it is ZZ7777.", "Date?", "Please move it to 3 May.", "Done."),
    "zh": ("我要改签航班。", "单号？", "单号是 ZZ7777。", "哪天？", "请改到5月3日。", "好的。"),
}


@pytest.mark.parametrize(
    ("language", "facts", "texts"),
    [
        ("en", ["QX4821, please.", "To 7 June."], ["Sure, it is QX4821.", "Please move it to 7 June."]),
        ("en", {"code": "QX4821", "date": "2026-06-07"}, ["Sure, it is QX4821.", "Please move it to 2026-06-07."]),
        ("en", ["From 6 June to 7 June."], ["I do not have that here."]),  # which of the two is not certain
        ("zh", ["订单号 QX4821", "改到六月七日"], ["单号是 QX4821。", "请改到六月七日。"]),
    ],
)
def test_a_turn_of_a_log_has_the_values_of_the_scenario_in_place_of_its_own(language, facts, texts):
    pytest.importorskip("jieba")
    user = PeopleSpeaker.of([of_log(*MOVES[language])], "user", weights=STEADY)
    (state,) = agent_test.scenarios([{"first_message": MOVES[language][0], "facts": facts}])
    (conversation,) = duologue.simulate(agent_test.cast(user=user, assistant=lambda messages: "Yes?"), [state])
    assert of_user(conversation)[1:] == texts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("to the 7th of June", "7th of June"),
        ("on June 7th", "June 7th"),
        ("on 2026-06-07", "2026-06-07"),
        ("改到2026年6月7日", "2026年6月7日"),
        ("at 19:30", "19:30"),
        ("to ann@host.example please", "ann@host.example"),
        ("the code TR-9310", "TR-9310"),
        ("电话13812345678", "13812345678"),
        ("call +49 171 2345678", "+49 171 2345678"),
        ("call 555-0142", "555-0142"),
        ("card 4111 1111 1111 1111", "4111 1111 1111 1111"),
        ("my order number is 4711", "4711"),
        ("order #4711", "4711"),
        ("booking code qx4821", "qx4821"),
        ("meine bestellnummer lautet 4711", "4711"),
        ("单号ZZ7777", "ZZ7777"),
    ],
)
def test_a_date_a_time_an_address_or_a_code_is_one_value(text, value):
    assert [one.text for one in values_in(text)] == [value]


PERSONAL = ("My order number is 4711.", "Call me on 0171 2345678.", "I am ann@host.example.", "It is booking ZZ7777.")


@pytest.mark.parametrize("own", PERSONAL)
def test_a_user_without_such_a_value_says_nobodys_and_does_not_have_it(own):
    donor = of_log("Cancel my order.", "Details?", f"Sure. {own} Thank you!", "Done.")
    user = PeopleSpeaker.of([donor], "user", weights=STEADY)
    (state,) = agent_test.scenarios([{"first_message": "Cancel my order."}])
    (conversation,) = duologue.simulate(agent_test.cast(user=user, assistant=lambda messages: "Yes?"), [state])
    assert of_user(conversation)[1:] == ["Sure. I do not have that here. Thank you!"]
    value = values_in(own)[-1].text
    assert value not in str(conversation.model_dump())


def test_what_a_donor_opens_with_is_left_out_and_a_number_of_another_kind_stays():
    donor = of_log("Cancel my order 48213377. I bought 2 lamps for COVID-19 wards.", "Done.")
    user = PeopleSpeaker.of([donor], "user", weights=STEADY)
    (state,) = agent_test.scenarios([{"goal": "cancel the order of lamps"}])
    (conversation,) = duologue.simulate(agent_test.cast(user=user, assistant=lambda messages: "Yes?"), [state])
    assert of_user(conversation) == ["I bought 2 lamps for COVID-19 wards."]


def test_a_question_that_begins_with_may_holds_no_month():
    assert values_in("May I go to the lake?") == ()


def test_a_turn_whose_slot_is_uncertain_gives_way_to_another():
    unsure = talk("I go to Lisbon, what is there?", "Much.", goal="a trip to Lisbon or to Porto", user="ann")
    plain = talk("What is there to see?", "Much.", goal="a trip to Lisbon or to Porto", user="bob")
    conversation = simulate([unsure, plain], goal="a trip to Ghent")
    assert of_user(conversation) == ["What is there to see?"]


def test_a_turn_with_personal_details_needs_as_many_users_as_are_asked_for():
    private = talk("I live at 12 Long Mill Street, which tea?", "This.", user="ann")
    shared = [talk("I drink 3 cups a day, which tea?", "This.", user=name) for name in ("bob", "cem", "dag")]
    plain = talk("Which tea is mild?", "This.", user="eva")
    donors = [private, *shared, plain]

    def usable(least):
        memory = PeopleSpeaker.of(donors, "user", options=PeopleOptions(min_users=least)).memory
        return {turn.text for turn, ok in zip(memory.turns, memory.usable, strict=True) if ok}

    assert usable(1) == {turn.messages[0].text for turn in donors}
    assert usable(3) == {"I drink 3 cups a day, which tea?", "Which tea is mild?"}
    assert usable(4) == {"Which tea is mild?"}


def test_a_mask_stands_in_the_place_of_what_rules_find():
    text = "My name is Ann Lee, write to ann@lee.org or www.lee.org, call 020 7946 0018, Mr. Oak at 7 Mill Road knows."
    donor = talk(text, "Hello Ann.", user="ann")
    conversation = simulate([donor], options=PeopleOptions(mask=True))
    assert of_user(conversation) == [
        "My name is [name], write to [email] or [link], call [number], Mr. [name] at [address] knows."
    ]
    chinese = talk("我叫王小明，电话13912345678，李老师推荐的茶在哪里？", "在这里。", goal="买茶", user="ann")
    assert of_user(simulate([chinese], goal="买茶", options=PeopleOptions(mask=True))) == [
        "我叫[name]，电话[number]，[name]老师推荐的茶在哪里？"
    ]


@pytest.mark.untraced
@pytest.mark.parametrize("piece", ["a", "1", "一", "王", "A ", "1,", "www.", "a@", "我叫", "?", "12 "])
def test_a_long_odd_text_is_looked_at_like_any_other(piece):
    text = piece * (50_000 // len(piece))
    assert len(values_in(text)) <= len(text)
    assert len(asked_in(text)) <= len(text)
    assert masked(text) is not None
    assert is_personal(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Dear Zora Quill, your train is booked.", "Dear [name], your train is booked."),
        ("hello Zora!", "hello [name]!"),
        ("Hi Zora", "Hi [name]"),
        ("Hi Can you book a train?", "Hi Can you book a train?"),
    ],
)
def test_a_name_that_is_addressed_is_masked(text, left):
    assert masked(text) == left
