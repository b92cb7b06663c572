"""Each call of a side begins with the messages of the call before: endpoints store the work of a prefix."""

from itertools import pairwise

import pytest
from langchain_core.messages import BaseMessage

import duologue
from duologue import data
from duologue.graphs import agent_test, recllmsim, simquac
from duologue.nodes import Limits
from duologue.nodes.models.scripted import ScriptedModel

TURNS = 4
SECTION = "Three keepers lived there <b>with a dog</b>. The last one left in 1968. Ships still pass at night."
TOPIC = data.simquac.Topic(title="The lighthouse", background="On the pier.", header="Keepers", section=SECTION)
GOAL = {"goal": "Move my flight.", "facts": ["The booking code is QX4821.", "The fare is flexible."]}
TASKS = recllmsim.scenarios(data.recllmsim.combined(data.recllmsim.shipped_tasks(), data.recllmsim.shipped_profiles().texts)[:1])  # fmt: skip
WORDS = ("", "Tell me of the <museum> number {}."), ("", "The <museum> number {} is far away.")
CASTS = {
    "simquac": (simquac.cast, simquac.scenarios([TOPIC]), {}, ("", "What happened in year <{}>?"), ("Nobody.", "Ships still pass")),
    "recllmsim": (recllmsim.cast, TASKS, {}, *WORDS),
    "page by page": (recllmsim.cast, TASKS, {"handshake": True, "proactive": True}, *WORDS),
    "agent_test": (agent_test.cast, agent_test.scenarios([GOAL]), {}, ("", "Move my flight to <museum> number {}."), WORDS[1]),
}  # fmt: skip


def text_of(messages: list[BaseMessage]) -> str:
    return "".join(f"\n[{message.type}]\n{message.content}" for message in messages[1:])


@pytest.mark.parametrize("name", CASTS)
def test_a_call_begins_with_all_that_the_call_before_it_sent_ahead_of_the_notes(name: str) -> None:
    build, scenarios, settings, *sides = CASTS[name]
    models = [
        ScriptedModel(lines=[text for number in range(TURNS) for text in (wrong, right.format(number))], by_call=True)
        for wrong, right in sides  # a draft that is rejected before each that is accepted
    ]
    (conversation,) = duologue.simulate(build(*models, **settings), scenarios, limits=Limits(max_turns=TURNS))
    assert conversation.failure is None
    for calls in (model.sent for model in models):
        assert len(calls) == 2 * TURNS
        assert {(messages[0].type, messages[0].text) for messages in calls} == {("system", calls[0][0].text)}
        for before, after in pairwise(calls):
            assert text_of(after).startswith(text_of(before).partition("<note>")[0].rstrip())
    if name == "simquac":  # where a repair is asked for behind the whole call whose answer was rejected
        for rejected, repaired in zip(calls[::2], calls[1::2], strict=True):
            assert repaired[: len(rejected)] == rejected
            assert [message.type for message in repaired[len(rejected) :]] == ["ai", "human"]
