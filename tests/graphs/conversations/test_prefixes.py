"""Each call of a side begins with the messages of the call before: endpoints store the work of a prefix."""

from collections import defaultdict
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import duologue
from duologue import data
from duologue.data.simquac import Topic
from duologue.graphs import Cast, agent_test, recllmsim, simquac
from duologue.nodes import Limits, State

TURNS = 4
SECTION = "Three keepers lived there <b>with a dog</b>. The last one left in 1968. Ships still pass at night."
GOAL = {
    "goal": "Move my flight to the third of May.",
    "facts": ["The booking code is QX4821.", "The fare is flexible."],
}
Calls = list[list[BaseMessage]]


class Heard(BaseChatModel):
    """Says what is rejected and what is accepted, by turns, and keeps what it was sent."""

    side: str
    rejected: str
    accepted: str
    heard: Any

    @property
    def _llm_type(self) -> str:
        return "heard"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **more: Any) -> Any:
        calls = self.heard[self.side]
        calls.append(list(messages))
        text = self.rejected if len(calls) % 2 else self.accepted.format(len(calls))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def talk(name: str) -> tuple[Cast, State, dict[str, Calls]]:
    """A cast, what its conversation is about, and what each side will have been sent."""
    heard: dict[str, Calls] = defaultdict(list)
    if name == "simquac":
        student = Heard(side="user", rejected="", accepted="What happened in year <{}>?", heard=heard)
        teacher = Heard(side="assistant", rejected="Nobody knows that.", accepted="Ships still pass", heard=heard)
        topic = Topic(title="The lighthouse", background="On the pier.", header="Keepers", section=SECTION)
        return simquac.cast(user=student, assistant=teacher), simquac.scenarios([topic])[0], heard
    user = Heard(side="user", rejected="", accepted="Tell me of the <museum> number {}.", heard=heard)
    assistant = Heard(side="assistant", rejected="", accepted="The <museum> number {} is far away.", heard=heard)
    if name == "agent_test":
        return agent_test.cast(user=user, assistant=assistant), agent_test.scenarios([GOAL])[0], heard
    about = data.recllmsim.combined(data.recllmsim.shipped_tasks(), data.recllmsim.shipped_profiles().texts)
    settings = {"handshake": True, "proactive": True} if "page by page" in name else {}
    return recllmsim.cast(user=user, assistant=assistant, **settings), recllmsim.scenarios(about[:1])[0], heard


@pytest.fixture(params=["simquac", "recllmsim", "recllmsim, page by page", "agent_test"])
def heard(request: pytest.FixtureRequest) -> dict[str, Calls]:
    """The calls of each side of a cast, in a conversation in which every other draft was rejected."""
    cast, scenario, heard = talk(request.param)
    (conversation,) = duologue.simulate(cast, [scenario], limits=Limits(max_turns=TURNS))
    assert conversation.failure is None
    assert {side: len(calls) for side, calls in heard.items()} == {"user": 2 * TURNS, "assistant": 2 * TURNS}
    return heard


@pytest.mark.parametrize("side", ["user", "assistant"])
def test_the_system_page_stays_the_same_throughout_a_conversation(heard: dict[str, Calls], side: str) -> None:
    assert {messages[0].type for messages in heard[side]} == {"system"}
    assert len({messages[0].text for messages in heard[side]}) == 1


@pytest.mark.parametrize("side", ["user", "assistant"])
def test_a_call_begins_with_all_that_the_call_before_it_sent_ahead_of_the_notes(
    heard: dict[str, Calls], side: str
) -> None:
    def text_of(messages: list[BaseMessage]) -> str:
        return "".join(f"\n[{message.type}]\n{message.content}" for message in messages[1:])

    for before, after in zip(heard[side], heard[side][1:], strict=False):
        settled = text_of(before).partition("<note>")[0].rstrip()
        assert text_of(after).startswith(settled)


@pytest.mark.parametrize("heard", ["simquac"], indirect=True)
def test_a_repair_is_asked_for_behind_the_whole_call_whose_answer_was_rejected(heard: dict[str, Calls]) -> None:
    calls = heard["assistant"]
    for rejected, repaired in zip(calls[::2], calls[1::2], strict=True):
        assert repaired[: len(rejected)] == rejected
        assert [message.type for message in repaired[len(rejected) :]] == ["ai", "human"]
