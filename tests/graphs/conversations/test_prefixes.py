"""Each call of a side begins with the messages of the call before: endpoints store the work of a prefix."""

import pytest
from langchain_core.messages import BaseMessage

import duologue
from duologue import data
from duologue.data.simquac import Topic
from duologue.graphs import Cast, agent_test, recllmsim, simquac
from duologue.nodes import Limits
from duologue.nodes.models.scripted import ScriptedModel
from duologue.nodes.state import Planned

TURNS = 4
SECTION = "Three keepers lived there <b>with a dog</b>. The last one left in 1968. Ships still pass at night."
GOAL = {
    "goal": "Move my flight to the third of May.",
    "facts": ["The booking code is QX4821.", "The fare is flexible."],
}
Calls = list[list[BaseMessage]]


def speaker(rejected: str, accepted: str) -> ScriptedModel:
    """A model with a draft that is rejected before each that is accepted."""
    lines = [text for number in range(1, TURNS + 1) for text in (rejected, accepted.format(2 * number))]
    return ScriptedModel(lines=lines, by_call=True)


def talk(name: str) -> tuple[Cast, Planned, dict[str, ScriptedModel]]:
    """A cast, what its conversation is about, and the model of each side."""
    if name == "simquac":
        models = {
            "user": speaker("", "What happened in year <{}>?"),
            "assistant": speaker("Nobody knows that.", "Ships still pass"),
        }
        topic = Topic(title="The lighthouse", background="On the pier.", header="Keepers", section=SECTION)
        return simquac.cast(**models), simquac.scenarios([topic])[0], models
    models = {
        "user": speaker("", "Tell me of the <museum> number {}."),
        "assistant": speaker("", "The <museum> number {} is far away."),
    }
    if name == "agent_test":
        return agent_test.cast(**models), agent_test.scenarios([GOAL])[0], models
    about = data.recllmsim.combined(data.recllmsim.shipped_tasks(), data.recllmsim.shipped_profiles().texts)
    settings = {"handshake": True, "proactive": True} if "page by page" in name else {}
    return recllmsim.cast(**models, **settings), recllmsim.scenarios(about[:1])[0], models


@pytest.fixture(params=["simquac", "recllmsim", "recllmsim, page by page", "agent_test"])
def heard(request: pytest.FixtureRequest) -> dict[str, Calls]:
    """The calls of each side of a cast, in a conversation in which every other draft was rejected."""
    cast, scenario, models = talk(request.param)
    (conversation,) = duologue.simulate(cast, [scenario], limits=Limits(max_turns=TURNS))
    assert conversation.failure is None
    heard = {side: model.sent for side, model in models.items()}
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
