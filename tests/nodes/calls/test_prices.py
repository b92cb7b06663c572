"""What a call costs."""

import pytest

from duologue.errors import MissingExtraError
from duologue.nodes.calls import prices
from duologue.nodes.calls.prices import PriceQuery, asked_model, price
from duologue.nodes.models.specs import chat_model
from duologue.testing import scripted_model

MILLION = {"input_tokens": 1_000_000, "output_tokens": 1_000_000}


@pytest.fixture(autouse=True)
def forget_rates():
    prices._rates.cache_clear()


def test_input_and_output_cost_what_the_table_says():
    genai_prices = pytest.importorskip("genai_prices")
    usage = genai_prices.Usage(input_tokens=1200, output_tokens=300)
    of_table = float(genai_prices.calc_price(usage, "gpt-4.1-mini").total_price)
    assert price(PriceQuery("gpt-4.1-mini"), {"input_tokens": 1200, "output_tokens": 300}) == pytest.approx(of_table)


def test_cached_tokens_have_their_own_price():
    full = price(PriceQuery("gpt-4.1-mini"), {"input_tokens": 1000})
    cached = price(PriceQuery("gpt-4.1-mini"), {"input_tokens": 1000, "cached_tokens": 1000})
    assert cached == pytest.approx(full / 4)


def test_more_cached_tokens_than_input_are_no_more_than_the_input():
    odd = price(PriceQuery("gpt-4.1-mini"), {"input_tokens": 10, "cached_tokens": 50})
    assert odd == pytest.approx(price(PriceQuery("gpt-4.1-mini"), {"input_tokens": 10, "cached_tokens": 10}))


def test_a_long_input_is_priced_by_its_tier():
    short = price(PriceQuery("gemini-2.5-pro"), {"input_tokens": 10_000})
    assert price(PriceQuery("gemini-2.5-pro"), {"input_tokens": 300_000}) > 30 * short * 1.5


def test_the_rates_of_a_model_are_looked_up_once(monkeypatch):
    looked = []

    def look(*arguments):
        looked.append(arguments)
        return 1.0

    monkeypatch.setattr(prices, "_price", look)
    for _ in range(1000):
        price(PriceQuery("some"), {"input_tokens": 10, "output_tokens": 5})
    assert len(looked) == 3


@pytest.mark.parametrize(
    "query",
    [
        PriceQuery("my-own-model"),
        PriceQuery("gpt-99"),
        PriceQuery("llama3.3", "ollama"),
        PriceQuery("gpt-4.1-mini", "groq"),
        PriceQuery("gpt-4.1-mini", "ollama"),
    ],
)
def test_an_unknown_price_is_none_and_never_0(query):
    assert price(query, MILLION) is None
    assert price(query, {"input_tokens": 50_000}) is None


def test_a_gateway_at_an_unknown_address_costs_the_list_price():
    assert price(
        PriceQuery("gpt-4.1-mini", "openai", "http://127.0.0.1:9/v1"), {"input_tokens": 1000}
    ) == pytest.approx(0.0004)


def test_a_known_address_has_prices_of_its_own():
    assert price(PriceQuery("openai/gpt-4.1-mini", "openai", "https://openrouter.ai/api/v1"), MILLION) is not None


def test_the_offline_model_costs_nothing_to_ask_and_others_are_named(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://name:p4ss.4711@127.0.0.1:9/v1")
    assert asked_model(chat_model("offline")) is None
    query = asked_model(chat_model("openai:gpt-4.1-mini"))
    assert (query.name, query.provider, query.host) == ("gpt-4.1-mini", "openai", "127.0.0.1:9")
    assert asked_model(scripted_model("Hello")).name == "ScriptedModel"


def test_without_the_extra_one_line_names_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "genai_prices", None)
    with pytest.raises(MissingExtraError, match=r"duologue\[cost\]"):
        price(PriceQuery("gpt-4.1-mini"), {"input_tokens": 1})
