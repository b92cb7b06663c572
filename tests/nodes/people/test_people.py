"""Speakers made from people's stored turns: which turn comes next, and what may be said at all."""

import json
import sys
from collections import Counter

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding

import duologue
from duologue import data, runs
from duologue.data import Conversation, Message
from duologue.data.people.splits import of_part, part_of
from duologue.errors import DataError, MissingExtraError, SettingError
from duologue.graphs import agent_test, recllmsim, simquac
from duologue.nodes import Limits
from duologue.nodes.people import ChoiceWeights, PeopleOptions, PeopleSpeaker
from duologue.nodes.people.names import is_personal, masked
from duologue.nodes.people.options import parsed
from duologue.nodes.people.slots import values_in
from duologue.nodes.people.turns import asked_in

GOAL = "find a mild tea for the evening"
STEADY = ChoiceWeights(spread=0)
"""No chance: the turn that fits best."""


def talk(*texts, goal=GOAL, user="ann", number=0, **scenario):
    """A stored conversation of alternating messages, the user's first."""
    messages = tuple(Message(role=("user", "assistant")[n % 2], text=text) for n, text in enumerate(texts))
    return Conversation(id=f"{user}-{number}", scenario={"goal": goal, "user": user, **scenario}, messages=messages)


TEA = talk(
    "Which tea is mild in the evening?",
    "Camomile tea is mild.",
    "Does camomile tea keep me awake?",
    "No, camomile has no caffeine.",
    "Fine, I take the camomile tea.",
    "Enjoy it.",
)
BIKE = talk(
    "My bicycle brake squeals, what now?",
    "Clean the brake rim first.",
    "The rim is clean and it squeals still.",
    "Then change the brake pads.",
    goal="stop a bicycle brake from squealing",
    user="bob",
)


def simulate(donors, goal=GOAL, assistant=lambda messages: "Camomile tea is mild.", options=None, **changes):
    limits = changes.pop("limits", None)
    user = PeopleSpeaker.of(donors, "user", options=options, weights=changes.pop("weights", STEADY))
    cast = agent_test.cast(user=user, assistant=assistant, **changes)
    (conversation,) = duologue.simulate(cast, agent_test.scenarios([{"goal": goal}]), limits=limits)
    return conversation


def of_user(conversation):
    return [message.text for message in conversation.messages if message.role == "user"]


def origins(conversation, role="user"):
    return [message.extra["people"] for message in conversation.messages if message.role == role]


def test_a_user_says_what_its_donor_said_and_ends_where_it_ended():
    conversation = simulate([TEA, BIKE])
    assert of_user(conversation) == [TEA.messages[n].text for n in (0, 2, 4)]
    assert conversation.stop == "user_ended"
    assert conversation.messages[-1].role == "assistant"  # its last turn is answered


def test_that_it_left_is_no_success_of_the_agent():
    assert simulate([TEA, BIKE]).labels == {"scores": {}}


def test_the_task_chooses_the_donor():
    conversation = simulate(
        [TEA, BIKE], goal="stop a bicycle brake from squealing", assistant=lambda _: "Clean the brake rim."
    )
    assert {origin["conversation"] for origin in origins(conversation)} == {"bob-0"}


def test_each_message_tells_conversation_and_message_that_it_came_from(tmp_path):
    conversation = simulate([TEA, BIKE])
    assert [(origin["conversation"], origin["message"]) for origin in origins(conversation)] == [
        ("ann-0", n) for n in (0, 2, 4)
    ]
    data.formats.record_lines.write([conversation], tmp_path / "records.jsonl")
    (loaded,) = duologue.load(tmp_path / "records.jsonl")
    assert origins(loaded) == origins(conversation)
    duologue.show(conversation, out=tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "from message 2 of conversation <code>ann-0</code>" in page


def test_another_donor_speaks_where_the_next_turn_of_the_first_does_not_fit():
    first = talk(
        "Which tea is mild?",
        "Try the lime blossom of Gdansk.",
        "What does lime blossom of Gdansk cost in Gdansk?",
        "Five.",
        user="ann",
    )
    other = talk("A mild tea, please.", "Rooibos is mild.", "Does rooibos have caffeine?", "None.", user="cem")
    conversation = simulate(
        [first, other], assistant=lambda _: "Rooibos is mild.", weights=ChoiceWeights(spread=0, stay=0.1)
    )
    assert "Does rooibos have caffeine?" in of_user(conversation)
    assert not any("Gdansk" in text for text in of_user(conversation))


def test_a_turn_is_never_used_twice():
    lines = ("Which tea?", "This one.", "More please.", "Yes.", "Which tea?", "No.", "I take it.", "Enjoy it.")
    often = [talk(*lines, user=f"u{n}") for n in range(4)]
    for seed in range(5):
        for weights in (ChoiceWeights(), ChoiceWeights(stay=0, place=0, spread=2)):
            conversation = simulate(often, limits=Limits(seed=seed, max_turns=30), weights=weights)
            assert max(Counter(of_user(conversation)).values()) == 1
            assert conversation.stop == "user_ended"


def test_a_rejected_turn_gives_way_to_another_one():
    odd = "[System]: find a mild tea for the evening"
    conversation = simulate([talk(odd, "Yes.", user="ann"), talk("Which tea is mild?", "This.", user="bob")])
    assert of_user(conversation)[0] == "Which tea is mild?"
    assert [attempt.text for attempt in conversation.messages[0].rejected] == [odd]


def test_a_memory_of_one_conversation_says_it_once():
    conversation = simulate([TEA])
    assert of_user(conversation) == [TEA.messages[n].text for n in (0, 2, 4)]


def test_equal_seeds_give_equal_conversations_and_others_draw_other_donors():
    donors = [talk(f"Which tea is mild, number {n}?", "This.", user=f"u{n}") for n in "abcdefgh"]

    def first(seed):
        return of_user(simulate(donors, limits=Limits(seed=seed), weights=ChoiceWeights()))[0]

    assert first(1) == first(1)
    assert len({first(seed) for seed in range(8)}) > 2


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


def of_log(*texts, name="d"):
    """A log of alternating messages, the user's first: nothing but its messages is known."""
    return talk(*texts, user=name).model_copy(update={"scenario": {"kind": "messages", "digest": name}})


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


def test_unseen_leaves_out_donors_about_the_same_context():
    for unseen, donor in ((False, "ann-0"), (True, "bob-0")):
        user = PeopleSpeaker.of([TEA, BIKE], "user", options=PeopleOptions(unseen=unseen), weights=STEADY)
        cast = agent_test.cast(user=user, assistant=lambda _: "Camomile tea is mild.")
        (conversation,) = duologue.simulate(cast, [{"scenario": dict(TEA.scenario)}])
        assert {origin["conversation"] for origin in origins(conversation)} == {donor}


def test_nobody_is_played_by_their_own_words_about_their_own_scenario():
    other = TEA.model_copy(update={"id": "carl-0", "scenario": TEA.scenario | {"user": "carl"}})
    again = TEA.model_copy(update={"id": "ann-1"})
    user = PeopleSpeaker.of([TEA, again, other], "user", weights=STEADY)
    cast = agent_test.cast(user=user, assistant=lambda messages: "Camomile tea is mild.")
    (state,) = agent_test.scenarios([{"goal": GOAL}])
    for stored, whose in (({"id": "ann-0"}, {"ann-1", "carl-0"}), ({"id": "ann-0", "user": "ann"}, {"carl-0"})):
        (conversation,) = duologue.simulate(cast, [{**state, "extra": {"stored": stored}}])
        assert {origin["conversation"] for origin in origins(conversation)} <= whose
    (conversation,) = duologue.simulate(
        cast.replace(user_simulator=PeopleSpeaker.of([TEA, again], "user")), [{**state, "extra": {"stored": stored}}]
    )
    assert "all of its conversations are those of the person whose scenario this is: give those of others too" in str(
        conversation.failure
    )


def test_unseen_with_nothing_else_fails_in_one_line():
    cast = agent_test.cast(
        user=PeopleSpeaker.of([TEA], "user", options=PeopleOptions(unseen=True)), assistant=lambda _: "Yes."
    )
    (conversation,) = duologue.simulate(cast, [{"scenario": dict(TEA.scenario)}])
    assert conversation.stop == "model_failed"
    assert "all of its conversations are about this context: leave unseen=true out" in conversation.failure.error


def halves():
    names = [f"user {n}" for n in range(40)]
    tune = [name for name in names if part_of(name) == "tune"]
    test = [name for name in names if part_of(name) == "test"]
    assert len(tune) > 5
    assert len(test) > 5
    return tune, test


@pytest.mark.parametrize("side", ["user", "assistant"])
def test_a_tuning_half_never_says_a_word_of_the_test_half(side):
    tune, test = halves()
    marked = [talk("Which tea zanzimark?", "This zanzimark.", "Why zanzimark?", "So zanzimark.", user=u) for u in test]
    plain = [talk("Which tea?", "This one.", "Why that?", "For the taste.", user=u) for u in tune]
    speaker = PeopleSpeaker.of([*marked, *plain], side, options=PeopleOptions(part="tune"))
    assert not any("zanzimark" in message.text for donor in speaker.memory.donors for message in donor.messages)
    assert {donor.user for donor in speaker.memory.donors} == set(tune)
    sides = {"user": lambda _: "Which tea zanzimark?", "assistant": lambda _: "This zanzimark."} | {side: speaker}
    cast = agent_test.cast(**sides)
    for conversation in duologue.simulate(cast, agent_test.scenarios([{"goal": GOAL}, {"goal": "zanzimark"}])):
        assert not any("zanzimark" in message.text for message in conversation.messages if message.role == side)


def test_the_halves_are_those_of_a_comparison():
    from duologue.analysis.realism import part_of as compared

    assert compared is part_of


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


def test_a_source_without_users_names_is_split_and_said_all_the_same():
    nameless = [
        Conversation(id=str(n), scenario={"goal": f"{GOAL} {n}"}, messages=talk(f"Which tea {n}?", "This.").messages)
        for n in "abcdefgh"
    ]
    parts = [PeopleSpeaker.of(nameless, "user", options=PeopleOptions(part=part)).memory for part in ("tune", "test")]
    assert sorted(donor.id for memory in parts for donor in memory.donors) == list("abcdefgh")
    assert of_user(simulate(nameless))


def test_tags_in_a_turn_are_only_text(tmp_path):
    donor = talk("What does <title>tea & {{ mild }}</title> mean?", "A title.", user="ann")
    conversation = simulate([donor])
    assert of_user(conversation) == ["What does <title>tea & {{ mild }}</title> mean?"]
    duologue.show(conversation, out=tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;title&gt;tea &amp; {{ mild }}&lt;/title&gt;" in page


def test_recorded_replies_answer_what_was_said():
    questions = iter(["The rim is clean and it squeals still.", "Bye."])
    cast = agent_test.cast(
        user=lambda _: next(questions), assistant=PeopleSpeaker.of([TEA, BIKE], "assistant"), limits=Limits(max_turns=1)
    )
    (conversation,) = duologue.simulate(cast, agent_test.scenarios([{"goal": "stop a bicycle brake from squealing"}]))
    assert conversation.messages[1].text == "Then change the brake pads."
    assert origins(conversation, "assistant")[0]["conversation"] == "bob-0"


def test_the_assistant_does_not_know_what_the_user_wants():
    speaker = PeopleSpeaker.of([TEA, BIKE], "assistant")
    cast = agent_test.cast(user=lambda _: "Clean?", assistant=speaker, limits=Limits(max_turns=1))
    goals = [GOAL, "stop a bicycle brake from squealing", "something else"]
    replies = {
        conversation.messages[1].text
        for conversation in duologue.simulate(cast, agent_test.scenarios([{"goal": g} for g in goals]))
    }
    assert len(replies) == 1


def test_replies_are_of_another_conversation_than_the_users_turns():
    donors = [talk("Which tea is mild?", f"Reply {name}.", "Why?", f"So {name}.", user=name) for name in ("ann", "bob")]
    user, assistant = (PeopleSpeaker.of(donors, role) for role in ("user", "assistant"))
    (conversation,) = duologue.simulate(
        agent_test.cast(user=user, assistant=assistant), agent_test.scenarios([{"goal": GOAL}])
    )
    spoken, answering = (
        {origin["conversation"] for origin in origins(conversation, role)} for role in ("user", "assistant")
    )
    assert spoken.isdisjoint(answering)


def test_an_assistant_without_a_reply_left_says_nothing_and_nothing_fails():
    questions = iter(["Which tea is mild?", "Why?", "Really?", "Fine."])
    speaker = PeopleSpeaker.of([talk("Which tea?", "This one.")], "assistant")
    cast = agent_test.cast(user=lambda _: next(questions), assistant=speaker, limits=Limits(max_turns=3))
    (conversation,) = duologue.simulate(cast, agent_test.scenarios([{"goal": GOAL}]))
    assert [message.text for message in conversation.messages if message.role == "assistant"] == ["This one."]
    assert conversation.failure is None


def test_embeddings_choose_in_place_of_words():
    speaker = PeopleSpeaker.of([TEA, BIKE], "user", embeddings=DeterministicFakeEmbedding(size=16))
    cast = agent_test.cast(user=speaker, assistant=lambda _: "Yes.")
    (conversation,) = duologue.simulate(cast, agent_test.scenarios([{"goal": GOAL}]))
    assert set(of_user(conversation)) <= {m.text for donor in (TEA, BIKE) for m in donor.messages}
    assert conversation.provenance.nodes["user_simulator"].settings["embeddings"] == "DeterministicFakeEmbedding"


def test_a_students_questions_stand_in_the_simquac_cast_under_its_guard():
    section = "Three keepers lived there. The last one left in 1968."
    topic = data.simquac.Topic(title="The lighthouse", background="b", header="Keepers", section=section)
    words = " ".join(["word"] * 30)
    people = [
        Conversation(id="a", scenario=topic.scenario(), messages=talk("Who lived there?", "Three keepers").messages),
        Conversation(id="b", scenario=topic.scenario(), messages=talk(f"{words}?", "Three keepers").messages),
    ]
    user, teacher = (PeopleSpeaker.of(people, role, weights=STEADY) for role in ("user", "assistant"))
    (conversation,) = duologue.simulate(simquac.cast(user, teacher), simquac.scenarios([topic]))
    assert of_user(conversation) == ["Who lived there?"]
    assert conversation.messages[1].spans[0].text == "Three keepers"
    assert words not in str(conversation)


def test_of_many_conversations_those_of_drawn_users_are_the_memory(caplog):
    donors = [talk(f"Tea {n}?", "Yes.", user=f"u{n % 5}", number=n) for n in range(20)]
    part, other, whole = (
        PeopleSpeaker.of(chosen, "user", options=PeopleOptions(most=most)).memory
        for chosen, most in ((donors, 9), (donors[::-1], 9), (donors, 20))
    )
    assert [len(memory.donors) for memory in (part, other, whole)] == [8, 8, 20]
    users = {donor.user for donor in part.donors}
    assert (len(users), users) == (2, {donor.user for donor in other.donors})
    assert len(caplog.messages) == 2
    assert (
        "turns of 8 of 20 conversations are used, those of 2 of 5 users: at most 9 are (most=N)" in caplog.messages[0]
    )


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("people:", "people: names no source"),
        ("people:nowhere.jsonl", "nowhere.jsonl: cannot be read"),
        ("people:talks.jsonl?colour=red", "'people:talks.jsonl' has no option 'colour'; there are unseen, part,"),
        ("people:talks.jsonl?unseen=maybe", "unseen must be true or false, not 'maybe'"),
        ("people:talks.jsonl?part=half", "part must be one of tune, learn, select, test, all, not 'half'"),
        ("people:talks.jsonl?most=0", "most must be a whole number from 1, not 0"),
        ("people:talks.jsonl?min_users=0", "min_users must be a whole number from 1, not 0"),
        ("people:talks.jsonl?unseen", "its options are unclear"),
        ("people:empty", "empty: "),
    ],
)
def test_what_is_wrong_with_a_spec_is_said_in_one_line(spec, words, tmp_path):
    write(tmp_path / "talks.jsonl", [TEA])
    (tmp_path / "empty").mkdir()
    with pytest.raises((SettingError, DataError)) as caught:
        agent_test.cast(user=spec)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_spec_with_every_option_is_read():
    path, options = parsed("people:a/b c.jsonl?unseen=true&part=tune&min_users=2&mask=true&licence=1.0")
    assert str(path) == "a/b c.jsonl"
    assert options == PeopleOptions(unseen=True, part="tune", min_users=2, mask=True, licence="1.0")


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


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Lacks("sklearn"), *sys.meta_path])
    with pytest.raises(MissingExtraError, match=r"sklearn is not installed: pip install \"duologue\[ml\]\""):
        PeopleSpeaker.of([TEA], "user")


class Lacks:
    """Finds no package of this name."""

    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_chinese_turns_are_chosen_by_their_words():
    tea = talk("晚上喝什么茶比较好？", "洋甘菊茶。", "洋甘菊茶贵吗？", "不贵。", goal="买一种晚上喝的茶", user="ann")
    bike = talk("自行车刹车响怎么办？", "先清洁轮圈。", goal="修好自行车的刹车", user="bob")
    conversation = simulate([bike, tea], goal="买一种晚上喝的茶", assistant=lambda _: "洋甘菊茶不错。")
    assert of_user(conversation) == ["晚上喝什么茶比较好？", "洋甘菊茶贵吗？"]


def test_users_of_the_open_study_say_only_what_its_tuning_half_said(open_data):
    people = duologue.load(open_data / "recllmsim" / "human_exp_V2").conversations
    halves = {part: [one for one in people if of_part(one, part)] for part in ("tune", "test")}
    options = PeopleOptions(part="tune")
    user, assistant = (PeopleSpeaker.of(people, role, options=options) for role in ("user", "assistant"))
    states = [{"scenario": state["scenario"]} for state in recllmsim.scenarios(halves["test"][:6])]
    conversations = duologue.simulate(recllmsim.cast(user=user, assistant=assistant, language="zh"), states)
    tuning = {one.id for one in halves["tune"]}
    for conversation in conversations:
        assert conversation.stop == "user_ended"
        assert len({message.text for message in conversation.messages}) == len(conversation.messages)
        assert {message.extra["people"]["conversation"] for message in conversation.messages} <= tuning


def test_no_conversation_or_no_turn_of_the_side_is_said_so():
    with pytest.raises(DataError, match="holds no conversation"):
        PeopleSpeaker.of([], "user")
    silent = Conversation(id="1", scenario={"goal": GOAL}, messages=(Message(role="user", text="Hello?"),))
    with pytest.raises(DataError, match="none of its conversations has a message of the assistant"):
        PeopleSpeaker.of([silent], "assistant")
    with pytest.raises(DataError, match="no turn of the user is left with min_users=2"):
        PeopleSpeaker.of([talk("I am 30.", "Yes.")], "user", options=PeopleOptions(min_users=2))


def test_a_weight_below_nothing_is_refused():
    with pytest.raises(SettingError, match="people: stay must be a number, 0 or more, not -1"):
        ChoiceWeights(stay=-1)


def write(path, conversations):
    lines = (
        {
            "id": conversation.id,
            "user": conversation.scenario["user"],
            "messages": [{"role": m.role, "content": m.text} for m in conversation.messages],
        }
        for conversation in conversations
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_a_user_that_replaces_another_ends_by_itself(tmp_path):
    write(tmp_path / "talks.jsonl", [TEA])
    cast = agent_test.cast(assistant=lambda _: "Camomile tea is mild.").replace(user_simulator="people:talks.jsonl")
    (conversation,) = duologue.simulate(cast, agent_test.scenarios([{"goal": GOAL}]))
    assert of_user(conversation) == [TEA.messages[n].text for n in (0, 2, 4)]
    assert conversation.stop == "user_ended"


def test_a_run_draws_from_a_file_and_its_card_says_so(tmp_path):
    write(tmp_path / "talks.jsonl", [TEA, BIKE])
    cast = agent_test.cast(user="people:talks.jsonl?licence=CC-BY-4.0", assistant="people:talks.jsonl")
    runs.blocking(runs.arun(cast, agent_test.scenarios([{"goal": GOAL}]), tmp_path / "run"))
    (conversation,) = duologue.load(tmp_path / "run")
    assert conversation.provenance.nodes["user_simulator"].label == "people:talks.jsonl?licence=CC-BY-4.0"
    assert all(message.extra["people"]["source"] == "talks.jsonl" for message in conversation.messages)
    card = (tmp_path / "run" / "dataset" / "README.md").read_text(encoding="utf-8")
    assert "The words of the user are **people's own words**" in card
    assert "Their licence: CC-BY-4.0." in card
    assert "The words of the assistant are **recorded replies**" in card
    assert "No person wrote" not in card
    assert "synthetic" not in card


def test_a_spec_gives_weights_beside_its_options(tmp_path):
    data.record_lines.write([TEA, BIKE], tmp_path / "talks.jsonl")
    speaker = PeopleSpeaker.of_spec(f"people:{tmp_path / 'talks.jsonl'}?stay=0.25&spread=0&mask=true", "user")
    assert (speaker.weights, speaker.options) == (ChoiceWeights(stay=0.25, spread=0), PeopleOptions(mask=True))
    for wrong in ("stay=-1", "stay=much", "stay=true", "stay=1e999"):
        with pytest.raises(SettingError, match="people: stay must be a number, 0 or more"):
            PeopleSpeaker.of_spec(f"people:{tmp_path / 'talks.jsonl'}?{wrong}", "user")


def test_the_users_to_tune_on_are_those_to_learn_from_and_those_to_select_by():
    many = [talk("Which tea?", "Camomile.", user=f"user {number}") for number in range(200)]
    parts = {part: [one.id for one in many if of_part(one, part)] for part in ("tune", "learn", "select", "test")}
    assert sorted(parts["learn"] + parts["select"]) == sorted(parts["tune"])
    assert not set(parts["learn"]) & set(parts["select"])
    assert not set(parts["tune"]) & set(parts["test"])
    assert min(map(len, parts.values())) > 25
