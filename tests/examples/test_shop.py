"""The shop's agent: a supervisor with sub-agents, a context, SQLite, an approval, and streams, from end to end."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import graphs, nodes
from duologue.data import load
from duologue.views.conversation import conversation_page
from tests.tree import ROOT

FOLDER = ROOT / "examples" / "shop"


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(FOLDER)
    monkeypatch.syspath_prepend(str(FOLDER))
    yield __import__("shop")
    sys.modules.pop("shop")


def scenarios() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / "scenarios.jsonl").read_text().splitlines()]


def test_each_conversation_succeeds_and_shows_the_steps_of_its_sub_agents(shop: Any, tmp_path: Path) -> None:
    settings = {"world": "shop:world", "context": "shop:context", "approve": "all"}
    result = duologue.test("shop:graph", scenarios(), out=tmp_path / "run", **settings)
    assert (result.successes, result.scored) == (3, 3)
    refunded = next(talk for talk in load(tmp_path / "run").conversations if "KX4411" in talk.scenario["facts"])
    (attempt,) = refunded.messages[3].attempts
    assert [call.name for call in attempt.tool_calls] == ["transfer_to_refunds", "find_order", "refund", "interrupt"]
    models = [step for step in attempt.steps if step.path == ("refunds",) and step.usage]
    assert [[attempt.tool_calls[number].name for number in step.calls] for step in models] == [
        ["find_order"],
        ["refund"],
        [],
    ]
    assert attempt.usage is not None
    assert attempt.usage.tokens == sum(step.usage.tokens for step in attempt.steps if step.usage)
    page = conversation_page(refunded)
    assert page.count('<ol class="what">') > 2  # sub-agents stand under their node


def test_a_refund_that_is_not_approved_is_not_made(shop: Any) -> None:
    settings = {"world": shop.world, "context": shop.context, "approve": "none"}
    result = duologue.test(shop.graph, scenarios()[:1], **settings)
    (talk,) = result.records
    assert "refund" in [call.name for message in talk.messages for call in message.tool_calls if call.error]
    assert (result.successes, result.scored) == (0, 1)


async def test_its_steps_are_in_the_streams_of_the_conversations_graph(shop: Any) -> None:
    cast = graphs.agent_test.cast(assistant=shop.graph, world=shop.world, context=shop.context, approve="all")
    (state,) = graphs.agent_test.scenarios(scenarios()[:1])
    begun = {"scenario": state["scenario"]}
    seen = set()
    async with graphs.world(cast, begun, nodes.Limits(max_turns=3)) as context:
        async for space, update in graphs.conversation(cast).astream(
            begun, context=context, stream_mode="updates", subgraphs=True
        ):
            seen |= {("/".join(part.partition(":")[0] for part in space), node) for node in update}
    assert {("", "assistant"), ("assistant", "supervisor"), ("assistant/refunds", "tools")} <= seen


def test_a_rejected_refund_has_not_happened(shop: Any) -> None:
    rejected = iter([True])

    def once(draft: nodes.Draft, state: nodes.State) -> str | None:
        return "rude" if "refunded" in draft["text"] and next(rejected, False) else None

    cast = graphs.agent_test.cast(assistant=shop.graph, world=shop.world, context=shop.context, approve="all")
    cast = cast.replace(answer_validator=nodes.validator(once))
    (talk,) = duologue.simulate(cast, graphs.agent_test.scenarios(scenarios()[:1]))
    assert [attempt.verdict for attempt in talk.messages[3].attempts] == ["rejected", "accepted"]
    assert talk.labels["scores"]["success"]["value"] is True  # 20 EUR, and not 40
