"""What conversations cost, by their records and by list prices."""

import json

import pytest

from duologue.analysis.growth import RunGrowth
from duologue.data import Attempt, Conversation, Message, Usage
from duologue.data.records import NodeInfo, Provenance
from duologue.nodes.calls.prices import PriceQuery, price
from duologue.studies.live.costs import cost_of, prices

pytest.importorskip("genai_prices", reason="the extra cost")
USAGE = Usage(input_tokens=1000, output_tokens=100)
MINI = PriceQuery("gpt-4.1-mini", "openai")


def node(spec=None, **settings):
    return NodeInfo(name="N", label="N", settings=settings | ({} if spec is None else {"model": {"spec": spec}}))


def conversation(nodes, attempt=None, **more):
    attempts = (attempt or Attempt(number=1, text="a", verdict="accepted", usage=USAGE),)
    return Conversation(
        id="1",
        scenario={"kind": "call"},
        messages=(Message(role="assistant", text="a", attempts=attempts),),
        provenance=Provenance(cast="c", nodes=nodes),
        **more,
    )


def test_a_draft_costs_what_its_model_costs():
    assert prices() is cost_of
    cost = cost_of(conversation({"assistant": node("openai:gpt-4.1-mini")}))
    assert cost == pytest.approx(price(MINI, dict(USAGE)))
    assert cost > 0


def test_judges_and_scorers_cost_what_the_model_of_their_node_costs():
    attempt = Attempt(number=1, text="a", verdict="accepted", usage=USAGE, judging=USAGE)
    nodes = {
        "assistant": node("openai:gpt-4.1-mini"),
        "answer_validator": node(judges=[{"model": {"spec": "openai:gpt-4.1-mini"}}]),
        "closing": node(scorers={"success": {"model": {"spec": "openai:gpt-4.1-mini"}}}),
    }
    assert cost_of(conversation(nodes, attempt, closing_usage=USAGE)) == pytest.approx(3 * price(MINI, dict(USAGE)))


@pytest.mark.parametrize("spec", ["openai:a-model-of-nobody", "ollama:llama3", None])
def test_an_unknown_price_is_not_nothing(spec):
    assert cost_of(conversation({"assistant": node(spec)})) is None


def test_rules_cost_nothing():
    assert cost_of(conversation({"assistant": node("offline")})) == 0


@pytest.mark.parametrize("cost", [0.25, None])
def test_a_growing_run_has_the_cost_of_its_conversations_and_none_where_a_price_is_unknown(growing, cost):
    growing.begin()
    growing.grow(2)
    run = RunGrowth(growing.path, price_of=lambda _: cost)
    run.look()
    assert (run.cost, run.tokens) == (0, 0)  # the rule-based user costs nothing
    line = json.loads(growing.lines[2])
    line["messages"][1]["attempts"][0] |= {"usage": dict(USAGE), "model": "gpt-4.1-mini"}
    growing.lines[2] = json.dumps(line).encode() + b"\n"
    growing.grow()
    run.look()
    assert (run.cost, run.tokens) == (cost, 1100)
