"""A user's draft with a fault is drawn again before the agent reads it."""

import duologue
from duologue.graphs import agent_test
from duologue.nodes import Limits
from duologue.testing import scripted_model

GOAL = {"goal": "move my flight to 2026-05-03", "facts": "The booking code is QX4821."}


def agent(messages):
    texts = [message["content"] for message in messages if message["role"] == "user"]
    return "It has been moved to 2026-05-03." if "QX4821" in " ".join(texts) else "What is your booking code?"


def held(*texts, scenario=GOAL, **settings):
    model = scripted_model(*texts, by_call=True)
    cast = agent_test.cast(user=model, assistant=agent, **settings)
    [conversation] = duologue.simulate(cast, agent_test.scenarios([scenario]), limits=Limits(max_turns=4))
    return conversation, model


def test_an_invented_fact_is_drawn_again_and_the_user_reads_why():
    texts = ("Please move my flight to 3 May.", "It's QX4812.", "It's QX4821.", "Thank you, goodbye.")
    conversation, model = held(*texts, reject_user_faults=True)
    assert [message.text for message in conversation.messages if message.role == "user"] == [texts[0], *texts[2:]]
    [rejected] = conversation.messages[2].rejected
    assert (rejected.text, rejected.reason) == (texts[1], "user_invents")
    assert "gives 'QX4812', its scenario has 'QX4821'" in str(model.sent[2][-1].content)
    assert conversation.stop == "user_ended"


def test_a_goodbye_that_comes_too_early_ends_nothing():
    texts = ("Please move my flight to 3 May.", "Great, thanks. Goodbye!", "It's QX4821.", "Thank you, goodbye.")
    conversation, _ = held(*texts, reject_user_faults=True)
    assert [attempt.reason for attempt in conversation.messages[2].rejected] == ["user_leaves_early"]
    assert (len(conversation.messages), conversation.stop) == (5, "user_ended")


def test_without_the_setting_it_is_sent_and_a_behaviour_may_ask_for_it():
    texts = ("Please move my flight to 3 May.", "Great, it has been moved already!", "It's QX4821.", "Bye!")
    plain, _ = held(*texts)
    assert [message.rejected for message in plain.messages] == [()] * len(plain.messages)
    rejecting, _ = held(*texts, reject_user_faults=True)
    assert [attempt.reason for attempt in rejecting.messages[2].rejected] == ["user_false_claim"]
    licensed, _ = held(*texts, scenario=GOAL | {"behaviours": ["false_claim"]}, reject_user_faults=True)
    assert not any(message.rejected for message in licensed.messages)


def test_a_user_that_finds_no_other_words_ends_as_rejected():
    texts = ("Please move my flight to 3 May.", *["It's QX4812."] * 9)
    conversation, _ = held(*texts, reject_user_faults=True)
    assert (conversation.stop, conversation.fault) == ("user_rejected", "user")
