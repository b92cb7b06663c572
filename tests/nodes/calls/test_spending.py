"""What a run has spent, what the calls under way may take, and when that is too much."""

import asyncio
import random

import pytest

from duologue.errors import MissingExtraError, SettingError
from duologue.nodes.calls import spending as module
from duologue.nodes.calls.gate import RunOverError
from duologue.nodes.calls.spending import PriceQuery, Reservations, Spending, asked_model, price
from duologue.nodes.models.specs import chat_model
from duologue.testing import scripted_model

from .simulator import run

MINI = PriceQuery("gpt-4.1-mini", "openai", "http://user:secret@127.0.0.1:9/v1")
OWN = PriceQuery("mine", "openai", "http://127.0.0.1:9/v1")
CALL = {"input_tokens": 1000, "output_tokens": 100, "calls": 1}


@pytest.fixture(autouse=True)
def forget_prices():
    module._in_table.cache_clear()


# -- prices


@pytest.mark.parametrize(
    ("query", "tokens", "dollars"),
    [
        (PriceQuery("gpt-4.1-mini"), {"input_tokens": 1000, "output_tokens": 1000}, 0.0004 + 0.0016),
        (PriceQuery("gpt-4.1-mini"), {"input_tokens": 1000, "cached_tokens": 1000}, 0.0001),
        (PriceQuery("gpt-4.1-mini"), {"input_tokens": 1000, "cached_tokens": 5000}, 0.0001),
        (MINI, {"input_tokens": 1000}, 0.0004),  # a gateway at an unknown address
        (PriceQuery("gemini-2.5-pro", "google_genai"), {"input_tokens": 10_000}, 0.0125),
        (PriceQuery("gemini-2.5-pro", "google_genai"), {"input_tokens": 300_000}, 0.75),  # of the tier of long inputs
        (PriceQuery("my-own-model"), {"input_tokens": 1}, None),
        (PriceQuery("llama3.3", "ollama"), {"input_tokens": 1}, None),
        (PriceQuery("gpt-4.1-mini", "groq"), {"input_tokens": 1}, None),
        (PriceQuery("gpt-4.1-mini", "nobody"), {"input_tokens": 1}, None),
    ],
)
def test_a_call_costs_what_the_table_says_and_what_is_not_there_is_unknown(query, tokens, dollars):
    pytest.importorskip("genai_prices")
    assert price(query, tokens) == (None if dollars is None else pytest.approx(dollars))


def test_a_known_address_has_prices_of_its_own():
    pytest.importorskip("genai_prices")
    assert price(PriceQuery("openai/gpt-4.1-mini", "openai", "https://openrouter.ai/api/v1"), CALL)


def test_the_offline_model_costs_nothing_to_ask_and_others_are_named(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://name:p4ss.4711@127.0.0.1:9/v1")
    assert asked_model(chat_model("offline")) is None
    query = asked_model(chat_model("openai:gpt-4.1-mini"))
    assert (query.name, query.provider, query.host) == ("gpt-4.1-mini", "openai", "127.0.0.1:9")
    assert "p4ss" not in repr(query)
    assert asked_model(scripted_model("Hello")).name == "ScriptedModel"


def test_without_the_extra_one_line_names_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "genai_prices", None)
    with pytest.raises(MissingExtraError, match=r"duologue\[cost\]"):
        price(PriceQuery("gpt-4.1-mini"), {"input_tokens": 1})


# -- what was spent


def test_replies_are_added_up():
    spending = Spending(priced=True)
    for model in ("gpt-4.1-mini-2025-04-14", "gpt-4.1-mini-2025-04-14", "gpt-4.1"):
        spending.add(model, CALL, query=MINI)
    other = Spending(priced=True)
    other.include(spending)
    assert (other.total.calls, other.total.tokens) == (3, 3300)
    assert other.cost == spending.cost > 0


def test_what_an_agents_own_models_took_is_counted_by_its_messages():
    pytest.importorskip("genai_prices")
    spending = Spending(max_cost=1)
    drafts = [{"text": "Yes.", "model": "gpt-4.1-mini", "usage": CALL}, {"text": "So.", "model": "own", "usage": CALL}]
    assert spending.add_update({"drafts": [*drafts, {"text": "No usage."}]}) == (2200, pytest.approx(0.00056))
    assert spending.cost == pytest.approx(0.00056)
    assert spending.over() is None
    assert "'own'" in spending.notes[0]


def test_only_a_reply_without_reported_tokens_is_counted_by_characters_and_it_is_said_once():
    spending = Spending()
    spending.add("gpt-4.1-mini", CALL, query=MINI, sent=3, reply="Hello.")
    assert (spending.total.tokens, spending.notes) == (1100, [])
    for usage in ({"calls": 1}, {"input_tokens": 0, "output_tokens": 0}):
        spending.add("m", usage, query=OWN, sent=35, reply="b" * 20)
    assert spending.total.input_tokens == 1000 + 70
    assert len(spending.notes) == 1


def test_a_run_without_bounds_is_never_over_and_looks_no_price_up(monkeypatch):
    monkeypatch.setattr("duologue.nodes.calls.spending.price", lambda *_: pytest.fail("a price was looked up"))
    spending = Spending()
    spending.add("gpt-4.1-mini", CALL, query=MINI)
    assert (spending.over(), spending.cost) == (None, None)


def test_tokens_and_dollars_end_a_run_with_a_line_that_has_no_secret_of_an_address():
    for bounds, line in (({"max_tokens": 2000}, "2,200 tokens"), ({"max_cost": 0.001}, "$0.00112")):
        spending = Spending(**bounds)
        spending.add(None, CALL, query=MINI)
        assert spending.over() is None
        spending.add(None, CALL, query=MINI)
        assert spending.over().endswith(f"is reached, with {line}")
    spending.add("other", {}, query=MINI, sent=1, reply="word")
    assert "secret" not in str(spending.notes) + str(spending.over())


def test_a_bounded_cost_refuses_a_model_without_a_price_before_the_first_call():
    with pytest.raises(SettingError, match="'mine'"):
        Spending(max_cost=5).refuse_unknown([MINI, OWN])
    Spending(max_cost=5).refuse_unknown([MINI])
    Spending(max_tokens=5).refuse_unknown([OWN])


def test_a_model_that_answers_for_another_costs_what_was_asked_for_and_an_unknown_price_ends_a_bounded_run():
    spending = Spending(max_cost=5)
    for _ in range(3):
        spending.add("deployment-7", CALL, query=MINI)
    assert spending.cost == pytest.approx(3 * 0.00056)
    assert (spending.over(), len(spending.notes)) == (None, 1)
    spending.add("mine", CALL, query=OWN)
    assert spending.cost is None
    assert "'mine' (127.0.0.1:9)" in spending.over()


def test_the_offline_model_costs_nothing():
    spending = Spending(max_cost=1)
    spending.add("offline", CALL, query=None)
    assert (spending.cost, spending.over(), spending.notes) == (0.0, None, [])


@pytest.mark.parametrize("bound", [0, -1, float("nan")])
def test_a_bound_that_is_none_is_refused(bound):
    with pytest.raises(SettingError):
        Spending(max_cost=bound)


# -- what the calls under way may take


async def spend(reservations, workers, *, sent=300, mean=200, ratio=1.3, seed=1):
    """Let so many workers call until none may; replies are of very unequal lengths, and prompts longer than expected."""
    chance = random.Random(seed)

    async def work():
        while True:
            async with reservations.room(sent) as took:
                await asyncio.sleep(chance.uniform(0.2, 2.0))
                replied = round(min(10 * mean, chance.lognormvariate(0, 0.8) * mean / 1.377))
                usage = {"input_tokens": round(sent * ratio), "output_tokens": replied}
                took(*reservations.spending.add(None, usage, query=MINI))

    ended = await asyncio.gather(*(work() for _ in range(workers)), return_exceptions=True)
    assert {type(error) for error in ended} == {RunOverError}


@pytest.mark.parametrize("workers", [1, 8, 64])
@pytest.mark.parametrize("bound", [8_000, 40_000, 400_000])
def test_no_more_than_a_tenth_over_the_tokens_is_spent_and_little_is_left(workers, bound):
    for seed in range(3):
        spending = Spending(max_tokens=bound)
        run(spend(Reservations(spending), workers, seed=seed))
        assert 0.8 * bound < spending.total.tokens < 1.1 * bound
        assert spending.over()


def test_no_more_than_a_tenth_over_the_cost_is_spent():
    pytest.importorskip("genai_prices")
    spending = Spending(max_cost=0.05)
    run(spend(Reservations(spending), 64))
    assert 0.8 * 0.05 < spending.cost < 1.1 * 0.05


def test_a_call_that_would_pass_the_bound_alone_is_not_made_and_the_line_gives_its_length():
    spending = Spending(max_tokens=250)
    run(spend(Reservations(spending), 3))
    assert spending.total.calls == 0
    assert "300 tokens" in spending.over()


def test_without_a_bound_every_call_begins_at_once():
    async def main():
        reservations, entered = Reservations(Spending()), []

        async def work(number):
            async with reservations.room(10**9):
                entered.append(number)
                await asyncio.sleep(1)

        works = asyncio.gather(*map(work, range(20)))
        await asyncio.sleep(0.5)
        assert len(entered) == 20
        await works

    run(main())
