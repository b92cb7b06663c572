"""What a run has spent, and when that is too much."""

import pytest

from duologue.errors import SettingError
from duologue.nodes.calls.prices import PriceQuery
from duologue.nodes.calls.spending import Spending

MINI = PriceQuery("gpt-4.1-mini", "openai", "http://user:secret@127.0.0.1:9/v1")
OWN = PriceQuery("mine", "openai", "http://127.0.0.1:9/v1")
CALL = {"input_tokens": 1000, "output_tokens": 100, "calls": 1}


def test_replies_are_added_up_by_the_model_that_answered_and_by_role():
    spending = Spending(priced=True)
    spending.add("gpt-4.1-mini-2025-04-14", CALL | {"cached_tokens": 500}, role="user", query=MINI)
    spending.add("gpt-4.1-mini-2025-04-14", CALL | {"reasoning_tokens": 7}, role="assistant", query=MINI)
    spending.add("gpt-4.1", CALL, role="assistant", query=MINI)
    assert (spending.total.calls, spending.total.tokens) == (3, 3300)
    assert {name: spent.calls for name, spent in spending.by_model.items()} == {
        "gpt-4.1-mini-2025-04-14": 2,
        "gpt-4.1": 1,
    }
    assert {name: spent.tokens for name, spent in spending.by_role.items()} == {"user": 1100, "assistant": 2200}
    assert (spending.total.cached_tokens, spending.total.reasoning_tokens) == (500, 7)
    assert spending.by_role["user"].cost < spending.by_model["gpt-4.1"].cost
    assert spending.total.cost == pytest.approx(sum(spent.cost or 0.0 for spent in spending.by_model.values()))


def test_only_a_reply_without_reported_tokens_is_counted_by_characters():
    spending = Spending()
    spending.add("gpt-4.1-mini", CALL, role="user", query=MINI, sent=["Hello there."], reply="Hello.")
    assert (spending.total.tokens, spending.notes) == (1100, [])
    spending.add("gpt-4.1-mini", {"calls": 1}, role="user", query=MINI, sent=["Hello there."], reply="Hello.")
    assert 1100 < spending.total.tokens < 1110
    assert spending.notes == ["no usage reported by 127.0.0.1:9: tokens are counted by characters"]


def test_a_run_without_bounds_is_never_over_and_looks_no_price_up(monkeypatch):
    monkeypatch.setattr("duologue.nodes.calls.spending.price", lambda *_: pytest.fail("a price was looked up"))
    spending = Spending()
    spending.add("gpt-4.1-mini", CALL, role="user", query=MINI)
    assert (spending.over(), spending.total.cost) == (None, None)


def test_tokens_and_dollars_end_a_run_with_a_line():
    spending = Spending(max_tokens=2000)
    spending.add(None, CALL, role="user", query=MINI)
    assert spending.over() is None
    spending.add(None, CALL, role="user", query=MINI)
    assert spending.over() == "--max-run-tokens 2,000 is reached, with 2,200 tokens"

    spending = Spending(max_cost=0.001)
    spending.add(None, CALL, role="user", query=MINI)
    assert spending.over() is None
    spending.add(None, CALL, role="user", query=MINI)
    assert spending.over() == "--max-cost 0.001 is reached, with $0.00112"


def test_a_bounded_cost_refuses_a_model_without_a_price_before_the_first_call():
    with pytest.raises(
        SettingError, match=r"'mine' \(127.0.0.1:9\) is unknown: bound the run by --max-run-tokens instead"
    ):
        Spending(max_cost=5).refuse_unknown([MINI, OWN])
    Spending(max_cost=5).refuse_unknown([MINI])
    Spending(max_tokens=5).refuse_unknown([OWN])


def test_an_unknown_price_makes_the_cost_unknown_and_a_bounded_run_ends():
    spending = Spending(max_cost=5)
    spending.add("mine", CALL, role="user", query=OWN)
    assert spending.total.cost is None
    assert spending.over() == "the price of the model 'mine' (127.0.0.1:9) is unknown, so --max-cost cannot be kept"


def test_another_model_that_answers_and_is_unknown_costs_what_was_asked_for_and_it_is_said_once():
    spending = Spending(max_cost=5)
    for _ in range(3):
        spending.add("deployment-7", CALL, role="user", query=MINI)
    assert spending.total.cost == pytest.approx(3 * 0.00056)
    assert spending.over() is None
    assert spending.notes == [
        "the price of 'deployment-7', which answered for 'gpt-4.1-mini', is unknown: it is counted at that of 'gpt-4.1-mini'"
    ]


def test_tokens_that_are_not_reported_are_counted_by_characters_and_it_is_said_once():
    spending = Spending(max_tokens=100)
    for _ in range(2):
        spending.add("m", {"input_tokens": 0, "output_tokens": 0, "calls": 1}, role="user", query=OWN,
                     sent=["a" * 100, "课" * 10], reply="b" * 20)  # fmt: skip
    assert (spending.total.input_tokens, spending.total.output_tokens, spending.total.by_characters) == (70, 10, 2)
    assert spending.notes == ["no usage reported by 127.0.0.1:9: tokens are counted by characters"]
    spending.add("m", {}, role="user", query=OWN, sent=["a" * 100], reply="b")
    assert spending.over()


def test_the_offline_model_costs_nothing():
    spending = Spending(max_cost=1)
    spending.add("offline", CALL, role="user", query=None)
    assert (spending.total.cost, spending.over(), spending.notes) == (0.0, None, [])


@pytest.mark.parametrize("bound", [0, -1, float("nan")])
def test_a_bound_that_is_none_is_refused(bound):
    with pytest.raises(SettingError, match="max_cost must be above 0"):
        Spending(max_cost=bound)


def test_no_secret_of_an_address_is_in_what_is_told():
    spending = Spending(max_cost=1)
    spending.add("other", {}, role="user", query=MINI, sent=["word"], reply="word")
    assert "secret" not in str(spending.notes) + str(spending.plain()) + str(spending.over())
