"""Speakers made from people's stored turns: which turn comes next, and what may be said at all."""

from collections import Counter

import duologue
from duologue import data
from duologue.data import Conversation
from duologue.data.people import part_of
from duologue.graphs import agent_test, simquac
from duologue.nodes import Limits
from tests.nodes.people.donors import BIKE, GOAL, TEA, of_user, origins, simulate, speaker, talk, write


def test_a_user_says_what_its_donor_said_and_ends_where_it_ended(tmp_path):
    conversation = simulate([TEA, BIKE])
    assert of_user(conversation) == [TEA.messages[n].text for n in (0, 2, 4)]
    assert conversation.stop == "user_ended"
    assert conversation.messages[-1].role == "assistant"  # its last turn is answered
    assert conversation.scores == {}  # that it left is no success of the agent
    assert [(one["conversation"], one["message"]) for one in origins(conversation)] == [("ann-0", n) for n in (0, 2, 4)]
    (loaded,) = duologue.load(write(tmp_path / "records.jsonl", [conversation]))
    assert origins(loaded) == origins(conversation)
    duologue.show(conversation, out=tmp_path / "page.html")
    assert "from message 2 of conversation <code>ann-0</code>" in (tmp_path / "page.html").read_text("utf-8")


def test_another_donor_speaks_where_the_next_turn_of_the_first_does_not_fit():
    lime = "Try the lime blossom of Gdansk."
    first = talk("Which tea is mild?", lime, "What does lime blossom of Gdansk cost in Gdansk?", "Five.")
    other = talk("A mild tea, please.", "Rooibos is mild.", "Does rooibos have caffeine?", "None.", user="cem")
    conversation = simulate(speaker([first, other], stay=0.2), assistant=lambda _: "Rooibos is mild.")
    assert "Does rooibos have caffeine?" in of_user(conversation)
    assert not any("Gdansk" in text for text in of_user(conversation))


def test_a_turn_is_never_used_twice_and_the_seed_draws():
    lines = ("Which tea?", "This one.", "More please.", "Yes.", "Which tea?", "No.", "I take it.", "Enjoy it.")
    often = [talk(f"{user}?", "Yes.", *lines, user=user) for user in ("ann", "bob", "cem", "dag")]
    drawn = []
    for seed in (0, 1, 2, 3, 3):
        for options in ({"spread": 1}, {"stay": 0, "spread": 20}):
            conversation = simulate(speaker(often, **options), limits=Limits(seed=seed, max_turns=30))
            assert max(Counter(of_user(conversation)).values()) == 1
            assert conversation.stop == "user_ended"
        drawn.append(tuple(of_user(conversation)))
    assert (drawn[3] == drawn[4], len(set(drawn)) > 2) == (True, True)


def test_a_rejected_turn_gives_way_to_another_one():
    odd = "[System]: find a mild tea for the evening"
    conversation = simulate([talk(odd, "Yes.", user="ann"), talk("Which tea is mild?", "This.", user="bob")])
    assert of_user(conversation)[0] == "Which tea is mild?"
    assert [attempt.text for attempt in conversation.messages[0].rejected] == [odd]


def test_nobody_is_played_by_their_own_words_and_unseen_leaves_out_the_same_context():
    other = TEA.model_copy(update={"id": "carl-0", "scenario": TEA.scenario | {"user": "carl"}})
    again = TEA.model_copy(update={"id": "ann-1"})
    stored = {"id": "ann-0", "user": "ann"}
    for origin, whose in (({"id": "ann-0"}, {"ann-1", "carl-0"}), (stored, {"carl-0"})):
        conversation = simulate([TEA, again, other], extra={"stored": origin})
        assert {origin["conversation"] for origin in origins(conversation)} <= whose
    failed = simulate([TEA, again], extra={"stored": stored})
    assert "all of its conversations are of the person whose scenario this is" in str(failed.failure)
    for donors, donor in (([TEA, BIKE], "bob-0"), ([TEA], None)):
        cast = agent_test.cast(user=speaker(donors, unseen=True), assistant=lambda _: "Yes.")
        (conversation,) = duologue.simulate(cast, [{"scenario": dict(TEA.scenario)}])
        assert {origin["conversation"] for origin in origins(conversation)} == ({donor} if donor else set())
    assert "leave unseen=true out" in conversation.failure.error


def test_recorded_replies_answer_what_was_said_and_do_not_know_what_the_user_wants():
    replies = speaker([TEA, BIKE], "assistant")
    cast = agent_test.cast(
        user=lambda _: "The rim is clean and it squeals still.", assistant=replies, limits=Limits(max_turns=1)
    )
    for conversation in duologue.simulate(cast, agent_test.scenarios([{"goal": GOAL}, {"goal": "something else"}])):
        assert conversation.messages[1].text == "Then change the brake pads."
        assert origins(conversation, "assistant")[0]["conversation"] == "bob-0"


def test_a_students_questions_stand_in_the_simquac_cast_under_its_guard():
    section = "Three keepers lived there. The last one left in 1968."
    topic = data.simquac.Topic(title="The lighthouse", background="b", header="Keepers", section=section)
    words = " ".join(["word"] * 30)
    people = [
        Conversation(id="a", scenario=topic.scenario(), messages=talk("Who lived there?", "Three keepers").messages),
        Conversation(id="b", scenario=topic.scenario(), messages=talk(f"{words}?", "Three keepers").messages),
    ]
    cast = simquac.cast(speaker(people), speaker(people, "assistant"))
    (conversation,) = duologue.simulate(cast, simquac.scenarios([topic]))
    assert of_user(conversation) == ["Who lived there?"]
    assert conversation.messages[1].spans[0].text == "Three keepers"
    assert words not in str(conversation)


def test_replies_and_a_tuning_half_are_of_others():
    donors = [talk("Which tea is mild?", f"Reply {name}.", "Why?", f"So {name}.", user=name) for name in ("ann", "bob")]
    conversation = simulate(speaker(donors), assistant=speaker(donors, "assistant"))
    spoken, answering = ({one["conversation"] for one in origins(conversation, role)} for role in ("user", "assistant"))
    assert spoken.isdisjoint(answering)  # replies are of another conversation than the user's turns
    words = {"tune": "plain", "test": "zanzimark"}
    donors = [
        talk(f"Which tea, {words[part_of(n)]}?", f"This, {words[part_of(n)]}.", user=n) for n in map(str, range(40))
    ]
    half = simulate(speaker(donors, part="tune"), assistant=speaker(donors, "assistant", part="tune"))
    assert ("plain" in str(half), "zanzimark" in str(half)) == (True, False)


def test_an_assistant_without_a_reply_left_says_nothing_and_nothing_fails():
    questions = iter(["Which tea is mild?", "Why?", "Really?", "Fine."])
    replies = speaker([talk("Which tea?", "This one.")], "assistant")
    conversation = simulate(lambda _: next(questions), assistant=replies, limits=Limits(max_turns=3))
    assert [message.text for message in conversation.messages if message.role == "assistant"] == ["This one."]
    assert conversation.failure is None
