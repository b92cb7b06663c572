"""What conversations cost, by their records and by list prices."""

import pytest

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
