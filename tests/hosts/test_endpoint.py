"""A simulated user as a model of an endpoint, asked by OpenAI's own client over loopback: its words are those of a run."""

import asyncio
import contextlib
import http.client
import json
import threading

import pytest

import duologue
from duologue.cli.serving import listening
from duologue.graphs import agent_test
from duologue.hosts.endpoint import application

pytest.importorskip("uvicorn")
import openai
import uvicorn

GOAL = {"goal": "move my flight to 2026-05-03", "facts": "The booking code is QX4821."}
CODE = [{"role": "user", "content": "Which code?"}]
TOKEN = "a-token-of-the-test"


def agent(messages):
    texts = " ".join(message["content"] for message in messages if message["role"] == "user")
    return "Done: it is booked on 2026-05-03." if "QX4821" in texts else "Which is the booking code?"


@pytest.fixture
def serve():
    """A function that serves users in a thread, and gives the address."""
    with contextlib.ExitStack() as ends:

        def served(token=None, **settings):
            users = {"customer": lambda seed: duologue.user(**{**GOAL, "seed": seed, **settings})}
            opened = listening(None, 8801)
            port = opened.getsockname()[1]
            app = application(users, token=token)
            server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
            thread.start()

            def end():
                server.should_exit = True
                thread.join()

            ends.callback(end)
            return f"http://127.0.0.1:{port}/v1"

        yield served


@pytest.fixture
def client():
    """A function that gives OpenAI's client for an address."""
    with contextlib.ExitStack() as ends:

        def opened(address, key="none", **settings):
            return ends.enter_context(openai.OpenAI(base_url=address, api_key=key, max_retries=0, **settings))

        yield opened


@pytest.fixture(scope="module")
def texts():
    """The user's messages in a run."""
    [conversation] = duologue.simulate(agent_test.cast(assistant=agent), agent_test.scenarios([GOAL]))
    return [message.text for message in conversation.messages if message.role == "user"]


def talk(ask, swapped=True, reply=agent):
    """The user's messages and its end, in a loop such as a harness has."""
    own, theirs = ("assistant", "user") if swapped else ("user", "assistant")
    messages, texts = [{"role": role, "content": "You are a customer."} for role in ("system", "developer")], []
    for _ in range(20):
        completion = ask(messages)
        texts.append(completion.choices[0].message.content)
        if completion.choices[0].finish_reason != "stop":
            return texts, completion
        heard = [{"role": "user", "content": text} for text in texts]
        messages += [{"role": own, "content": texts[-1]}, {"role": theirs, "content": reply(heard)}]
    raise AssertionError("it never ended")


def test_its_words_are_those_of_a_run_and_its_end_has_a_name(serve, client, texts):
    chat = client(serve()).chat.completions
    said, last = talk(lambda messages: chat.create(model="customer", messages=messages))
    assert said == texts
    assert last.choices[0].finish_reason == "user_ended"
    assert last.duologue == {"ended": "user_ended", "rejected_drafts": 0}
    assert last.usage.total_tokens == last.usage.prompt_tokens + last.usage.completion_tokens > 0


def test_a_stream_is_the_same_answer_in_pieces(serve, client):
    address = serve()
    chat = client(address).chat.completions
    whole = chat.create(model="customer", messages=CODE)
    options = {"include_usage": True}
    chunks = list(chat.create(model="customer", messages=CODE, stream=True, stream_options=options))
    assert {chunk.id for chunk in chunks} == {whole.id}
    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(texts) == whole.choices[0].message.content
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices] == [None, "stop"]
    assert chunks[-2].duologue == whole.duologue
    assert (chunks[-1].choices, chunks[-1].usage) == ([], whole.usage)
    assert [chunk.usage for chunk in chunks[:-1]] == [None, None]
    plain = [chunk.model_dump() for chunk in chat.create(model="customer", messages=CODE, stream=True)]
    assert all(chunk["choices"] for chunk in plain)
    _, _, raw = asked(address, body={"model": "customer", "messages": CODE, "stream": True})
    assert raw.endswith("\n\ndata: [DONE]\n\n")
    assert '"usage"' not in raw


def test_the_user_begins_where_nothing_was_said_also_by_the_first_message_of_its_scenario(serve, client):
    first = {"first_message": "Please move my flight.", "facts": "The code is QX4821."}
    address = serve(goal=None, facts=None, scenario=first)
    assert answer(client(address), []).choices[0].message.content == "Please move my flight."


def answer(asking, messages, **more):
    return asking.chat.completions.create(model="customer", messages=messages, **more)


def test_a_seed_of_the_request_is_that_of_the_user(serve, client):
    asking = client(serve())
    texts = {seed: answer(asking, [], seed=seed).choices[0].message.content for seed in range(8)}
    assert len(set(texts.values())) > 1
    assert texts[3] == duologue.user(**GOAL, seed=3).reply_now().text


def test_a_user_with_a_memory_keeps_it_in_each_conversation_alone(serve, client, tmp_path):
    lines = [
        {"id": name, "user": name, "messages": [
            {"role": "user", "content": f"I look for {name} tea."}, {"role": "assistant", "content": "This one."},
            {"role": "user", "content": f"And what about more {name}?"}, {"role": "assistant", "content": "Two."}]}
        for name in ("mint", "rooibos", "camomile", "fennel", "lime", "nettle", "sage", "ginger")
    ]  # fmt: skip
    (tmp_path / "talks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    asking = client(serve(user=f"people:{tmp_path / 'talks.jsonl'}"))
    one, other = (talk(lambda messages: answer(asking, messages))[0] for _ in "ab")
    assert one == other
    assert len(set(one)) == len(one) > 1


@pytest.mark.parametrize(
    ("body", "status", "code", "line"),
    [
        ("{", 400, None, "the request: Invalid JSON"),
        ("[]", 400, None, "the request: "),
        ({"model": "customer"}, 400, None, "messages: Field required"),
        ({"model": "customer", "messages": CODE, "n": 2}, 400, None, "n: "),
        ({"model": "customer", "messages": CODE, "stream": "yes"}, 400, None, "stream: "),
        ({"model": "nobody", "messages": CODE}, 404, "model_not_found", "model: there is no user 'nobody', only customer"),
        ({"model": "customer", "messages": [{"role": "clerk", "content": "a"}]}, 400, None, "messages: the last one"),
        ({"model": "customer", "messages": [{"content": "a"}, *CODE]}, 400, None, "user.reply: messages, message 0"),
        ({"model": "customer", "messages": [*CODE, {"role": "assistant", "content": "a"}]}, 400, None,
         "messages: the last one has the role 'assistant': send your assistant's messages as 'user'"),
        ({"model": "customer", "messages": [{"role": "tool", "content": "a"}, *CODE]}, 400, None,
         "messages: the user calls no tools: send your assistant's messages as 'user'"),
        ({"model": "customer", "messages": [{"role": "function", "content": "a"}, *CODE]}, 400, None,
         "messages: the user calls no tools"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_an_error_in_openais_form(serve, body, status, code, line):
    answered, _, text = asked(serve(), body=body)
    error = json.loads(text)["error"]
    assert (answered, error["type"], error["code"]) == (status, "invalid_request_error", code)
    assert error["message"].startswith(line)
    assert len(error["message"].splitlines()) == 1


def asked(address, path="/chat/completions", method="POST", body="", **headers):
    """Status, headers and text of an answer to any request."""
    connection = http.client.HTTPConnection(address.removeprefix("http://").removesuffix("/v1"))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, f"/v1{path}", body if isinstance(body, str) else json.dumps(body), named)
    with contextlib.closing(connection):
        response = connection.getresponse()
        return response.status, dict(response.headers), response.read().decode()


def test_the_models_are_the_users(serve, client):
    asking = client(serve())
    assert [model.id for model in asking.models.list()] == ["customer"]
    assert asking.models.retrieve("customer").owned_by == "duologue"


def test_with_a_token_only_who_has_it_is_answered(serve, client):
    address = serve(token=TOKEN)
    assert answer(client(address, TOKEN), CODE).choices[0].message.content
    for key in ("another", f"{TOKEN}x", "é"):
        status, _, text = asked(address, "/models", "GET", authorization=f"Bearer {key}")
        assert (status, json.loads(text)["error"]["code"]) == (401, "invalid_api_key")
        assert TOKEN not in text
    with pytest.raises(openai.AuthenticationError):
        client(address).models.list()


@pytest.mark.parametrize("token", [None, TOKEN])
def test_other_host_names_and_pages_in_a_browser_are_refused(serve, token):
    address = serve(token=token)
    port = address.removesuffix("/v1").rpartition(":")[2]
    key = {"authorization": f"Bearer {TOKEN}"}
    for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}"):
        assert asked(address, "/models", "GET", Host=host, **key)[0] == 400
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9"):
        assert asked(address, "/models", "GET", Origin=origin, **key)[0] == 403
        assert asked(address, body={"model": "customer", "messages": CODE}, Origin=origin, **key)[0] == 403
    assert asked(address, "/models", "GET", Host=f"localhost:{port}", **key)[0] == 200


@pytest.mark.heavy
def test_sixty_four_conversations_at_once_do_not_mix(serve):
    address = serve()

    async def whole_talk(asking, seed):
        messages, texts = [], []
        while True:
            completion = await answer(asking, messages, seed=seed)
            texts.append(completion.choices[0].message.content)
            if completion.choices[0].finish_reason != "stop":
                return texts
            reply = agent([{"role": "user", "content": text} for text in texts])
            messages += [{"role": "assistant", "content": texts[-1]}, {"role": "user", "content": reply}]

    async def all_talks():
        async with openai.AsyncOpenAI(base_url=address, api_key="none", max_retries=0) as asking:
            return await asyncio.gather(*(whole_talk(asking, seed) for seed in range(64)))

    talks = asyncio.run(all_talks())
    scenarios = agent_test.scenarios([GOAL])
    for seed in (0, 17, 63):
        [run] = duologue.simulate(
            agent_test.cast(assistant=agent), scenarios, limits=duologue.Limits(seed=seed, max_turns=10)
        )
        assert talks[seed] == [message.text for message in run.messages if message.role == "user"]


def test_a_model_that_fails_is_a_servers_error_without_its_key(serve, client, faulty, monkeypatch):
    model = faulty(status="401")
    for name, value in model.environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(openai.InternalServerError) as error:
        answer(client(serve(user="openai:m")), CODE, stream=True)
    assert error.value.status_code == 502
    assert model.environment["OPENAI_API_KEY"] not in str(error.value)
