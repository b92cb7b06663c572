"""What each side keeps for itself: seen by its own nodes alone, and dropped with a rejected draft."""

import copy
import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from duologue.data.simquac import Topic
from duologue.graphs import Cast, conversation, record, simquac
from duologue.graphs.opening import begun
from duologue.nodes import Limits, validator
from duologue.nodes.contract import ContractError
from duologue.nodes.validators import accept_all
from tests.graphs.played import played

TOPIC = Topic(title="T", background="", header="H", section="Three keepers lived there.")
SECRET = "swordfish"


class Seen:
    """A node that keeps the states that it was given, and answers what it is told to."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.memories: list[Any] = []

    async def __call__(self, state: Any, runtime: Any) -> Any:
        self.memories.append(copy.deepcopy(state.get("memory")))
        return self.answers[min(len(self.memories), len(self.answers)) - 1]


def says(text: str, **more: Any) -> dict[str, Any]:
    return {"drafts": [{"text": text}], **more}


def cast(**nodes: Any) -> Cast:
    settings: dict[str, Any] = {"user_simulator": Seen(says("Who?")), "assistant": Seen(says("Three keepers"))}
    settings |= {"question_validator": accept_all, "answer_validator": accept_all}
    return simquac.cast().replace(**(settings | nodes))


def limits(turns: int = 2) -> Limits:
    return Limits(max_turns=turns, question_attempts=3, answer_attempts=2)


async def play(one: Cast, turns: int = 2, **planned: Any) -> Any:
    return await conversation(one).ainvoke(begun(simquac.scenario(TOPIC) | planned), context=limits(turns))


async def test_a_selectors_memory_counts_at_once_and_a_rejected_drafts_is_dropped():
    selector = Seen({"prompt": None, "memory": {"asked": 1}}, {"prompt": None})
    speaker = Seen(
        says("first", memory={"said": "never 1"}),
        says("second", memory={"said": "never 2"}),
        says("third", memory={"said": "third"}),
    )
    judge = iter(["rude", "rude", None])
    judged = cast(
        user_prompt_selector=selector,
        user_simulator=speaker,
        question_validator=validator(lambda draft, state: next(judge, None)),
    )
    state = await play(judged, turns=2)
    assert [memory["user"] for memory in speaker.memories] == [{"asked": 1}] * 3 + [{"said": "third"}]
    assert "never" not in json.dumps(selector.memories + speaker.memories)
    assert state["memory"]["user"] == {"said": "third"}
    assert "never" not in json.dumps(record(state, memory=True).plain())


@pytest.mark.parametrize(("fallback", "remembered"), [(None, {"n": 1}), ("Sorry.", {})])
async def test_the_memory_of_a_draft_that_stands_at_last_counts_and_that_of_one_replaced_by_declared_words_does_not(
    fallback, remembered
):
    speaker = Seen(says("no", memory={"n": 1}))
    judged = cast(assistant=speaker, answer_validator=validator(lambda draft, state: "rude"), fallback=fallback)
    state = await play(judged, turns=1)
    assert state["memory"].get("assistant", {}) == remembered


async def test_a_speaker_that_fails_or_says_nothing_keeps_what_it_had_or_what_it_says():
    class Failing(Seen):
        async def __call__(self, state: Any, runtime: Any) -> Any:
            await super().__call__(state, runtime)
            raise RuntimeError("no")

    planned: Any = simquac.scenario(TOPIC) | {"memories": {"assistant": {"n": 1}}}
    failed = await played(cast(assistant=Failing({}), record_memory=True), planned)
    assert (failed.stop, failed.memory) == ("model_failed", {"assistant": {"n": 1}})
    state = await play(cast(assistant=Seen({"drafts": [], "memory": {"n": 2}})))
    assert state["memory"] == {"assistant": {"n": 2}}


async def test_the_record_holds_the_memories_where_the_cast_says_so():
    speaker = Seen(says("Who?", memory={"word": SECRET}))
    assert (await played(cast(user_simulator=speaker), simquac.scenario(TOPIC), limits())).memory == {}
    told = cast(user_simulator=speaker, record_memory=True)
    conversation = await played(told, simquac.scenario(TOPIC), limits())
    assert conversation.memory == {"user": {"word": SECRET}}
    assert SECRET in json.dumps(conversation.plain())


@pytest.mark.parametrize(
    ("place", "answer", "problem"),
    [
        ("assistant", says("a", memory=3), "assistant: memory: .*int 3"),
        ("assistant", says("a", memory={"x": {1}}), "assistant: expected plain JSON values"),
        ("question_validator", {"verdicts": [{"accepted": True}], "memory": {}}, "got the key 'memory'"),
        ("turn_recorder", {"memory": {}}, "got the key 'memory'"),
    ],
)
async def test_a_memory_that_is_none_is_refused_by_name(place, answer, problem):
    with pytest.raises(ContractError, match=problem):
        await play(cast(**{place: Seen(answer)}))


@pytest.mark.parametrize("memories", [{"user": 3}, {"student": {}}, [1]])
async def test_memories_that_a_conversation_cannot_begin_with_are_refused(memories):
    with pytest.raises(ContractError, match="the initial state's memory"):
        await play(cast(), memories=memories)
    failed = await played(cast(), simquac.scenario(TOPIC) | {"memories": memories})
    assert failed.failure is not None
    assert "the initial state's memory" in failed.failure.error


async def test_a_memory_in_the_graphs_own_input_that_is_of_no_side_is_refused():
    with pytest.raises(ContractError, match="the initial state's memory"):
        await conversation(cast()).ainvoke(simquac.scenario(TOPIC) | {"memory": {"student": {}}})


async def test_a_memory_outlives_an_interruption():
    speaker = Seen(says("Who?", memory={"n": 1}), says("When?"))
    graph = conversation(cast(user_simulator=speaker), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke(
        simquac.scenario(TOPIC), config, context=Limits(max_turns=2), interrupt_before=["turn_recorder"]
    )
    await graph.ainvoke(None, config, context=Limits(max_turns=2))
    assert speaker.memories == [{}, {"user": {"n": 1}}]


async def test_questions_put_afterwards_are_put_to_sides_that_remember():
    from duologue.data.recllmsim import Situation
    from duologue.graphs import recllmsim

    about = Situation(task="gift preparation", task_context="You want a present.", preference="1. Gender: Female")
    speakers = {side: Seen(says("Hello there.", memory={"of": side})) for side in ("user", "assistant")}
    asked = recllmsim.cast(post_questions=True).replace(
        user_simulator=speakers["user"], assistant=speakers["assistant"]
    )
    await conversation(asked).ainvoke(recllmsim.scenario(about), context=Limits(max_turns=1))
    for side, speaker in speakers.items():
        afterwards = speaker.memories[1:]
        assert side not in speaker.memories[0]
        assert [memory[side] for memory in afterwards] == [{"of": side}] * len(afterwards)
        assert len(afterwards) > 1


async def test_what_a_node_writes_into_its_state_has_not_happened():
    class Forging(Seen):
        async def __call__(self, state: Any, runtime: Any) -> Any:
            state["messages"].append(HumanMessage("forged"))
            state["attempts"].clear()
            state["scenario"]["seen"] = 1
            state["drafts"].clear()
            state["labels"] = {"forged": True}
            return await super().__call__(state, runtime)

    scenario = simquac.scenario(TOPIC)
    before = json.dumps(scenario)
    forging = {"verdicts": [{"accepted": True}]}
    forged = cast(assistant=Forging(says("Three keepers")), answer_validator=Forging(forging), closing=Forging({}))
    state = await conversation(forged).ainvoke(scenario, context=Limits(max_turns=2))
    conversation_record = record(state)
    assert [message.text for message in conversation_record.messages] == ["Who?", "Three keepers"] * 2
    assert "forged" not in json.dumps(conversation_record.plain())
    assert json.dumps(scenario) == before
    assert conversation_record.scenario == scenario["scenario"]
