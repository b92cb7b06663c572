"""The shop's agent: a supervisor with sub-agents, a context, SQLite, an approval, and streams, from end to end."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import graphs, nodes
from duologue.analysis.testing.report import group_line, headline
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
    assert (result.successes, result.scored) == (12, 12)
    assert result.floor is not None
    assert (result.floor.refusing, result.floor.silent) == (4, 4)
    refunded = next(talk for talk in load(tmp_path / "run").conversations if talk.scenario.get("name") == "a regular")
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


ENDS = [
    "user_ended",
    "user_ended",
    *["user_gave_up"] * 3,
    *["user_ended"] * 3,
    "user_gave_up",
    "user_ended",
    "user_ended",
]


def test_the_rule_based_user_ends_each_conversation_for_a_right_reason(shop: Any) -> None:
    result = duologue.test(shop.graph, scenarios(), world=shop.world, context=shop.context, approve="all")
    assert [talk.stop for talk in result.records] == [*ENDS, "user_gave_up"]
    assert not result.faults["user"]
    for talk in result.records:
        said = [message.text for message in talk.messages if message.role == "user"]
        assert len(said) == len(set(said))  # it repeats nothing
        assert len(said) <= 4


def test_the_page_for_teams_shows_what_the_shop_gives(shop: Any) -> None:
    page = (ROOT / "docs/test/langgraph_teams.md").read_text()
    assert len(page.split()) <= 700
    result = duologue.test(shop.graph, scenarios(), world=shop.world, context=shop.context, approve="all")
    assert "\n".join(headline(result)[:3]) in page


@pytest.mark.heavy
def test_the_worse_version_is_found_and_an_unchanged_one_passes(shop: Any) -> None:
    settings = {"world": shop.world, "context": shop.context, "approve": "all", "repeats": 8, "fail_if_worse": "shown"}
    worse = duologue.test(shop.worse, scenarios(), against=shop.graph, **settings)
    assert worse.against is not None
    assert (worse.against.suite.shown, worse.passed) == ("worse", False)
    failed = {failure.scenario for failure in worse.failures}
    assert failed == {one["goal"] for number, one in enumerate(scenarios()) if number in (3, 4, 11)}
    assert worse.faults == {"user": 0, "assistant": 24, "infrastructure": 0, "undecided": 0}
    assert [group.name for group in worse.groups] == ["`refund` was called, which it must not be, at `refunds`"]
    page = (ROOT / "docs/test/langgraph_teams.md").read_text()
    assert group_line(worse.groups[0], worse) in page
    same = duologue.test(shop.build(), scenarios(), against=shop.graph, **settings)
    assert same.against is not None
    assert (same.against.suite.shown, same.passed, same.successes) == ("not shown", True, 96)


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
    assert talk.scores["success"]["value"] is True  # 20 EUR, and not 40
