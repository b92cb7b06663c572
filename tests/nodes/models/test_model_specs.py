"""Specs: a provider, a name and arguments in one string, and one line for each that cannot be made."""

from importlib.util import find_spec
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from duologue import graphs
from duologue.nodes import ModelError, chat_model
from duologue.nodes.models import model_provenance, parse_spec, specs, takes_seed

KEY = "open.sesame.4711"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    """A key, and an endpoint that nobody answers at."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("offline", ("offline", "", {})),
        (" offline ", ("offline", "", {})),
        ("offline?paraphrase=0.2&seed=3", ("offline", "", {"paraphrase": 0.2, "seed": 3})),
        ("openai:gpt-4.1-mini", ("openai", "gpt-4.1-mini", {})),
        ("openai:gpt-4.1-mini?temperature=0.5", ("openai", "gpt-4.1-mini", {"temperature": 0.5})),
        ("openai:library/llama3:8b", ("openai", "library/llama3:8b", {})),
        ("openai:m?reasoning_effort=low&stream_usage=true", ("openai", "m", {"reasoning_effort": "low", "stream_usage": True})),
        ("openai:m?stop=%5B%22a%26b%22%5D", ("openai", "m", {"stop": ["a&b"]})),
        ("openai:m?", ("openai", "m", {})),
    ],
)  # fmt: skip
def test_a_spec_has_a_provider_a_name_and_arguments(spec, parts):
    assert parse_spec(spec) == parts


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "is unknown: use 'openai:NAME', 'offline'"),
        ("gpt-4.1-mini", "'gpt-4.1-mini' is unknown: use 'openai:NAME', 'offline'"),
        ("groq:x", "model 'groq:x': install langchain-groq"),
        ("google-vertexai:x", "model 'google_vertexai:x': install langchain-google-vertexai"),
        ("azure_ai:m", "install langchain-azure-ai"),
        ("anthropic:", "has no name: write anthropic:NAME"),
        ("ollama:m?base_url=http://other", "base_url is read from the environment"),
        ("bedrock:m?aws_session_token=abcdefgh", "aws_session_token is read from the environment"),
        ("anthropic", "'anthropic' is unknown: use"),
        (
            "nobody:model-1",
            "'nobody:model-1' is unknown: use 'openai:NAME', 'offline', 'PROVIDER:NAME' (anthropic, ollama",
        ),
        ("Offline", "'Offline' is unknown: use"),
        ("openai:", "has no name: write openai:NAME"),
        ("openai", "has no name: write openai:NAME"),
        ("openai:m?temperature", "arguments are unclear: write ?name=value&name=value"),
        ("openai:m?temperature=0.5&&x", "arguments are unclear"),
        ("openai:m?temprature=0.5", "'openai:m' has no argument 'temprature'; there are temperature, top_p"),
        ("openai:m?temperature=warm", "temperature: Input should be a valid number"),
        ("openai:m?n=0", "n must be at least 1"),
        ("openai:m?model=other", "multiple values for keyword argument 'model'"),
        ("offline?temperature=0.5", "'offline' has no argument 'temperature'; there are background, empty"),
        ("offline?paraphrase=1.5", "paraphrase is a rate and must lie between 0 and 1, not 1.5"),
        ("offline?empty=-0.1", "empty is a rate and must lie between 0 and 1, not -0.1"),
        ("offline?empty=NaN", "empty must be a number, not 'NaN'"),
        ("offline?misbehave=Infinity", "misbehave must be a number, not 'Infinity'"),
        ("offline?background=much", "background must be a number, not 'much'"),
        ("offline?reasoning=true", "reasoning must be a number, not True"),
        ("offline?seed=0.5", "seed must be a whole number, not 0.5"),
        ("replay:file.json", "replays stored messages and is not a chat model"),
    ],
)
def test_a_spec_that_cannot_be_made_is_one_line(monkeypatch, spec, words):
    monkeypatch.setattr(specs, "find_spec", lambda name: None if name == "langchain" else find_spec(name))
    with pytest.raises(ModelError) as error:
        chat_model(spec)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert KEY not in str(error.value)


@pytest.mark.parametrize("value", [None, 3, object, ["openai:m"]])
def test_what_is_neither_a_spec_nor_a_model_is_one_line(value):
    with pytest.raises(ModelError, match="neither a model identifier nor a LangChain chat model: use 'openai:NAME'"):
        chat_model(value)


@pytest.mark.parametrize(
    "argument",
    [
        "api_key=another.word",
        "openai_api_key=another.word",
        "base_url=http://another.word/v1",
        "openai_api_base=http://another.word/v1",
        'default_headers={"Authorization":"Bearer another.word"}',
        'default_query={"api-key":"another.word"}',
        "openai_proxy=http://me:another.word@127.0.0.1:9",
    ],
)
def test_a_spec_cannot_say_where_and_as_whom_to_call(argument):
    with pytest.raises(ModelError) as error:
        chat_model(f"openai:m?{argument}")
    assert argument.split("=")[0] in str(error.value)
    assert "another.word" not in str(error.value)


@pytest.mark.parametrize("argument", ["request_timeout=7", "timeout=7"])
def test_an_argument_counts_by_either_of_its_names(argument):
    model: Any = chat_model(f"openai:m?{argument}")
    assert model.request_timeout == 7


@pytest.mark.parametrize("argument", ["model_name=other", "timeout=soon", "client=3"])
def test_an_argument_that_cannot_count_is_refused(argument):
    with pytest.raises(ModelError):
        chat_model(f"openai:m?{argument}")


def test_arguments_of_the_call_win_over_those_of_the_spec():
    model: Any = chat_model("openai:m?temperature=0.5&top_p=0.9", temperature=0.1)
    assert (model.temperature, model.top_p) == (0.1, 0.9)
    assert model_provenance(model) == {"spec": "openai:m", "arguments": {"temperature": 0.1, "top_p": 0.9}}


def test_an_instance_is_given_back_as_it_is():
    model = GenericFakeChatModel(messages=iter([AIMessage("Who?")]))
    assert chat_model(model) is model
    assert not takes_seed(model)
    assert model_provenance(model) == {"class": "GenericFakeChatModel", "arguments": {}}
    with pytest.raises(ModelError, match="arguments belong to a model identifier"):
        chat_model(model, temperature=0.5)


def test_a_model_takes_a_seed_unless_it_was_given_one():
    assert takes_seed(chat_model("offline"))
    assert takes_seed(chat_model("openai:m"))
    assert not takes_seed(chat_model("offline?seed=3"))
    assert not takes_seed(chat_model("openai:m?seed=3"))


def test_the_key_shows_in_no_form_of_a_model_nor_of_a_cast():
    model = chat_model("openai:m?temperature=0.5")
    assert KEY not in repr(model)
    assert KEY not in str(model.metadata)
    assert KEY not in str(graphs.simquac.cast(model, "openai:m").describe())
    assert KEY not in repr(graphs.simquac.cast(model, "openai:m"))
