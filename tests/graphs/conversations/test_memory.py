"""What each side keeps for itself: seen by its own nodes alone, and dropped with a rejected draft."""

import json
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from duologue.data.simquac import Topic
from duologue.graphs import Cast, conversation, record, simquac
from duologue.graphs.opening import begun
from duologue.nodes import ContractError, Limits, accept_all, prompt, validator
from duologue.nodes.state import seen_by
from tests.graphs.played import played

TOPIC = Topic(title="T", background="", header="H", section="Three keepers lived there.")
SECRET = "swordfish"


class Seen:
    """A node that keeps the states that it was given, and answers what it is told to."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.states: list[Any] = []

    async def __call__(self, state: Any, runtime: Any) -> Any:
        self.states.append(json.loads(json.dumps(state)))
        return self.answers[min(len(self.states), len(self.answers)) - 1]

    @property
    def memories(self) -> list[Any]:
        return [state.get("memory") for state in self.states]


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


async def test_a_sides_memory_is_seen_by_its_own_nodes_alone():
    nodes = {
        "user_prompt_selector": Seen({"prompt": prompt("a", "b")}),
        "user_simulator": Seen(says("Who?", memory={"word": SECRET})),
        "question_validator": Seen({"verdicts": [{"accepted": True}]}),
        "assistant_prompt_selector": Seen({"prompt": None}),
        "assistant": Seen(says("Three keepers")),
        "answer_validator": Seen({"verdicts": [{"accepted": True}]}),
        "turn_recorder": Seen({}),
        "closing": Seen({}),
    }
    state = await play(cast(**nodes))
    knows = {place for place, node in nodes.items() if SECRET in json.dumps(node.states)}
    assert knows == {"user_prompt_selector", "user_simulator", "question_validator"}
    assert nodes["user_simulator"].memories == [{}, {"word": SECRET}]
    assert nodes["assistant"].memories == [{}, {}]
    assert nodes["closing"].memories == [None]
    assert not any("memories" in seen or "pending_memory" in seen for node in nodes.values() for seen in node.states)
    assert state["memory"] == {"user": {"word": SECRET}}


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
    assert speaker.memories == [{"asked": 1}] * 3 + [{"said": "third"}]
    assert "never" not in json.dumps(selector.states + speaker.states)
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


async def test_what_a_node_changes_in_its_memory_without_answering_it_has_not_happened():
    class Careless(Seen):
        async def __call__(self, state: Any, runtime: Any) -> Any:
            answer = await super().__call__(state, runtime)
            state["memory"]["n"] = 99
            return answer

    speaker = Careless(says("Who?", memory={"n": 1}), says("When?"))
    state = await play(cast(user_simulator=speaker), turns=3)
    assert speaker.memories == [{}, {"n": 1}, {"n": 1}]
    assert state["memory"] == {"user": {"n": 1}}


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
        ("assistant", says("a", memory=3), "assistant: expected 'memory' to be a dict, got int 3"),
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
    assert speaker.memories == [{}, {"n": 1}]


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
        assert speaker.memories[0] == {}
        assert speaker.memories[1:] == [{"of": side}] * (len(speaker.states) - 1)
        assert len(speaker.states) > 2
        assert not any("memories" in state for state in speaker.states)


PRIVATE = {"kept": {"word": SECRET}, "reasoning": SECRET, "raw": f"<think>{SECRET}</think>", "cleaned": ["reasoning"]}


def thinks(text: str) -> dict[str, Any]:
    return {"drafts": [{"text": text, **PRIVATE}]}


@pytest.mark.parametrize(
    ("side", "others"),
    [
        ("user", {"assistant_prompt_selector", "assistant", "answer_validator"}),
        ("assistant", {"user_prompt_selector", "user_simulator", "question_validator"}),
    ],
)
async def test_what_a_side_thinks_and_keeps_is_hidden_from_the_nodes_of_the_other_alone(side, others):
    speaker = "user_simulator" if side == "user" else "assistant"
    judge = "question_validator" if side == "user" else "answer_validator"
    words = {"user_simulator": "Who?", "assistant": "Three keepers"}
    verdicts = [{"accepted": False, "reason": "rude"}] * 3 + [{"accepted": True}]
    nodes: dict[str, Any] = {
        "user_prompt_selector": Seen({"prompt": None}),
        "user_simulator": Seen(says("Who?")),
        "question_validator": Seen({"verdicts": [{"accepted": True}]}),
        "assistant_prompt_selector": Seen({"prompt": None}),
        "assistant": Seen(says("Three keepers")),
        "answer_validator": Seen({"verdicts": [{"accepted": True}]}),
        "turn_recorder": Seen({}),
        "closing": Seen({}),
    } | {speaker: Seen(thinks(words[speaker])), judge: Seen(*({"verdicts": [verdict]} for verdict in verdicts[2:]))}
    await play(cast(**nodes), turns=3)
    ignorant = {place for place, node in nodes.items() if SECRET not in json.dumps(node.states)}
    assert ignorant == others
    for place in others:
        last = nodes[place].states[-1]["messages"]
        assert [attempt["text"] for message in last for attempt in message["attempts"]]  # the rest is seen


def test_a_turn_that_ended_without_a_message_keeps_its_thoughts_from_the_other_side():
    first = {"role": "assistant", "after": 0, "attempts": [{"text": "no", "verdict": "rejected", **PRIVATE}]}
    state: Any = {"scenario": {}, "unsaid": [first], "attempts": first["attempts"], "speaking": "assistant"}
    assert SECRET not in json.dumps(seen_by("user", state))
    assert seen_by("assistant", state) == state
    assert SECRET in json.dumps(state)


async def test_questions_put_afterwards_do_not_show_a_side_what_the_other_thinks():
    from duologue.data.recllmsim import Situation
    from duologue.graphs import recllmsim

    about = Situation(task="gift preparation", task_context="You want a present.", preference="1. Gender: Female")
    user, assistant = Seen(says("Hello there.")), Seen(thinks("Hello to you."))
    asked = recllmsim.cast(post_questions=True).replace(user_simulator=user, assistant=assistant)
    await conversation(asked).ainvoke(recllmsim.scenario(about), context=Limits(max_turns=1))
    assert SECRET in json.dumps(assistant.states[-1])
    assert SECRET not in json.dumps(user.states)


async def test_a_stop_criterion_does_not_see_what_the_sides_keep():
    seen = []

    def stop(state: Any, limits: Limits) -> None:
        seen.append(set(state))

    await play(cast(user_simulator=Seen(says("Who?", memory={"word": SECRET})), stop=stop), memories={"user": {"n": 1}})
    first = [{"role": "user", "text": "Who?"}, {"role": "assistant", "text": "Three keepers"}]
    await play(cast(stop=stop), memories={"user": {"n": 1}}, messages=first)
    assert len(seen) > 4
    assert not any(keys & {"memory", "memories", "pending_memory"} for keys in seen)


async def test_what_a_node_writes_into_its_state_has_not_happened():
    class Forging(Seen):
        async def __call__(self, state: Any, runtime: Any) -> Any:
            state["messages"].append({"role": "user", "text": "forged"})
            state["messages"][0]["text"] = "forged"
            state["scenario"]["seen"] = 1
            state["drafts"].clear()
            state["provenance"]["cast"] = "forged"
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


async def test_what_is_written_deep_in_a_scenario_does_not_reach_the_callers():
    class Deep(Seen):
        async def __call__(self, state: Any, runtime: Any) -> Any:
            state["scenario"]["facts"]["seen"] = 1
            return await super().__call__(state, runtime)

    scenario = simquac.scenario(TOPIC)
    scenario["scenario"]["facts"] = {}
    await conversation(cast(assistant=Deep(says("Three keepers")))).ainvoke(scenario, context=Limits(max_turns=1))
    assert scenario["scenario"]["facts"] == {}
