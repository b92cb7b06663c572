"""Speakers made from people's stored turns: which turn comes next, and what may be said at all."""

from collections import Counter

import pytest

import duologue
from duologue import data
from duologue.data import Conversation
from duologue.data.people.splits import of_part
from duologue.graphs import agent_test, recllmsim, simquac
from duologue.nodes import Limits
from duologue.nodes.people import ChoiceWeights, PeopleOptions, PeopleSpeaker
from tests.nodes.people.donors import BIKE, GOAL, STEADY, TEA, of_user, origins, simulate, talk


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


@pytest.mark.heavy
def test_chinese_turns_are_chosen_by_their_words():
    tea = talk("晚上喝什么茶比较好？", "洋甘菊茶。", "洋甘菊茶贵吗？", "不贵。", goal="买一种晚上喝的茶", user="ann")
    bike = talk("自行车刹车响怎么办？", "先清洁轮圈。", goal="修好自行车的刹车", user="bob")
    conversation = simulate([bike, tea], goal="买一种晚上喝的茶", assistant=lambda _: "洋甘菊茶不错。")
    assert of_user(conversation) == ["晚上喝什么茶比较好？", "洋甘菊茶贵吗？"]


@pytest.mark.heavy
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
