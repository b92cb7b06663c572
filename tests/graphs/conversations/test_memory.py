"""What each side keeps for itself: seen by its own nodes alone, and dropped with a rejected draft."""

import copy
import json
from typing import Any

import pytest

from duologue.data.recllmsim import Situation
from duologue.graphs import Cast, conversation, recllmsim, record
from duologue.nodes import Limits, validator
from duologue.nodes.state import memory_of
from tests.graphs.played import SCENARIO, begun, played, talk


class Seen:
    """A node that keeps the memories that it was given, and answers what it is told to, at last for ever."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.memories: list[Any] = []

    async def __call__(self, state: Any, runtime: Any) -> Any:
        self.memories.append(copy.deepcopy({side: kept for side in ("user", "assistant") if (kept := memory_of(state, side))}))  # fmt: skip
        return self.answers[min(len(self.memories), len(self.answers)) - 1]


def says(text: str, **more: Any) -> dict[str, Any]:
    return {"drafts": [{"text": text}], **more}


async def play(cast: Cast, turns: int = 2, **planned: Any) -> Any:
    limits = Limits(max_turns=turns, question_attempts=3, answer_attempts=2)
    state = await conversation(cast).ainvoke(begun(SCENARIO | planned), context=limits)
    return record(state, memory=True).memory


async def test_a_selectors_memory_counts_at_once_and_a_rejected_drafts_is_dropped():
    selector = Seen({"prompt": None, "memory": {"asked": 1}}, {"prompt": None})
    drafts = [says(text, memory={"said": text}) for text in ("never 1", "never 2", "third")]
    speaker, judge = Seen(*drafts), iter(["rude", "rude", None])
    judged = validator(lambda draft, state: next(judge, None))
    cast = talk(user_prompt_selector=selector, user_simulator=speaker, question_validator=judged)
    assert await play(cast) == {"user": {"said": "third"}}
    assert [memory["user"] for memory in speaker.memories] == [{"asked": 1}] * 3 + [{"said": "third"}]
    assert "never" not in json.dumps(selector.memories + speaker.memories)


@pytest.mark.parametrize(("fallback", "remembered"), [(None, {"assistant": {"n": 1}}), ("Sorry.", {})])
async def test_the_memory_of_a_draft_that_stands_at_last_counts_and_not_of_one_replaced_by_declared_words(
    fallback, remembered
):
    rude = validator(lambda draft, state: "rude")
    cast = talk(assistant=Seen(says("no", memory={"n": 1})), answer_validator=rude, fallback=fallback)
    assert await play(cast, turns=1) == remembered


async def test_a_speaker_that_fails_or_says_nothing_keeps_what_it_had_or_what_it_says():
    async def failing(state: Any, runtime: Any) -> Any:
        raise RuntimeError("no")

    planned: Any = SCENARIO | {"memories": {"assistant": {"n": 1}}}
    failed = await played(talk(assistant=failing, record_memory=True), planned)
    assert (failed.stop, failed.memory) == ("model_failed", {"assistant": {"n": 1}})
    assert await play(talk(assistant=Seen({"drafts": [], "memory": {"n": 2}}))) == {"assistant": {"n": 2}}


@pytest.mark.parametrize("told", [True, False])
async def test_the_record_of_a_run_holds_the_memories_where_the_cast_says_so(told):
    cast = talk(user_simulator=Seen(says("Who?", memory={"word": "swordfish"})), record_memory=told)
    one = await played(cast, SCENARIO)
    assert one.memory == ({"user": {"word": "swordfish"}} if told else {})
    assert ("swordfish" in json.dumps(one.plain())) == told


async def test_questions_put_afterwards_are_put_to_sides_that_remember():
    about = Situation(task="gift preparation", task_context="You want a present.", preference="1. Gender: Female")
    speakers = {side: Seen(says("Hello there.", memory={"of": side})) for side in ("user", "assistant")}
    cast = recllmsim.cast(post_questions=True).replace(user_simulator=speakers["user"], assistant=speakers["assistant"])
    await conversation(cast).ainvoke(recllmsim.scenario(about), context=Limits(max_turns=1))
    for side, speaker in speakers.items():
        first, *afterwards = [memory.get(side) for memory in speaker.memories]
        assert (first, afterwards) == (None, [{"of": side}] * len(afterwards))
        assert len(afterwards) > 1
