"""The shipped users have no fault by the rules."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import data, graphs
from duologue.analysis.faults import found_faults
from duologue.data import Conversation
from duologue.data.files.json import read_lines
from duologue.graphs import agent_test, recllmsim
from duologue.nodes import Limits, State

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "data" / "samples"
DOCS = " ".join((ROOT / "docs/reference/error_rates.md").read_text("utf-8").split())
ASKS = ("What is the code?", "On which date?", "At what time?", "For how many people?",
        "请问号码是多少？", "哪一天？", "几点？", "几个人？")  # fmt: skip


def agent(messages: list[dict[str, str]]) -> str:
    """Asks four things, and reports the matter as done."""
    asked = sum(message["role"] == "assistant" for message in messages)
    chinese = any("\u4e00" <= sign <= "\u9fff" for sign in messages[0]["content"])
    done = "已经为您办好了。" if chinese else "It is done: it has been booked."
    return done if asked == len(ASKS) // 2 else ASKS[asked + chinese * len(ASKS) // 2]


def situations(language: str, count: int) -> list[State]:
    """The initial states of the first tasks with profiles."""
    settings = graphs.casts.find("recllmsim").checked({"language": language})
    return [*recllmsim.TaskSource(limit=count).read(settings, 0)]


def runs() -> Iterator[Conversation]:
    """Conversations of each cast's rule-based users, and of a retrieval-based one."""
    limits = Limits(seed=5)
    errands: list[Any] = [scenario for _, scenario in read_lines(SAMPLES / "errands.jsonl")]
    for assistant, repeats in ((agent, 5), ("offline", 2)):
        cast = agent_test.cast(assistant=assistant)
        yield from duologue.simulate(cast, agent_test.scenarios(errands, repeats=repeats), limits=limits)
    for language in ("en", "zh"):
        cast = recllmsim.cast(language=language)
        yield from duologue.simulate(cast, situations(language, 60), limits=limits)
    cast = graphs.simquac.cast()
    yield from duologue.simulate(cast, graphs.simquac.scenarios(data.simquac.samples()), limits=limits)
    source = SAMPLES / "illustration" / "written_users.jsonl"
    cast = recllmsim.cast(user=f"people:{source}")
    yield from duologue.simulate(cast, situations("en", 70), limits=limits)


@pytest.mark.heavy
def test_on_clean_runs_of_the_shipped_users_there_is_no_fault():
    conversations = [*runs()]
    assert [fault for one in conversations for fault in found_faults(one)] == []  # as the docs say
    match = re.search(r"(\d+) clean runs", DOCS)
    assert match is not None
    assert int(match[1]) == len(conversations) >= 300
