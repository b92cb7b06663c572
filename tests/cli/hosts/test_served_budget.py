"""`duologue serve-user` within bounds: what is spent is an error that no client repeats, and a later server counts it."""

import asyncio
import os
import signal

import pytest

pytest.importorskip("uvicorn")
import openai

USER = ("--goal", "move my flight", "--user", "openai:gpt-4.1-mini")


@pytest.fixture
def model(faulty, monkeypatch):
    """The endpoint of the user's model."""
    endpoint = faulty(reply="I want to move it, please.")
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    return endpoint


@pytest.fixture
def asked(serving, model):
    """A function that starts the server, asks many times at once, ends it, and gives the answers and its last lines."""

    def answers(*options, requests=4):
        address, fork = serving(*USER, *options, environment=model.environment)

        async def together():
            async with openai.AsyncOpenAI(base_url=address, api_key="none") as client:  # which repeats requests
                asking = (
                    client.chat.completions.create(model="agent_test", messages=[], seed=n) for n in range(requests)
                )
                return await asyncio.gather(*asking, return_exceptions=True)

        answered = asyncio.run(together())
        os.kill(fork.pid, signal.SIGINT)
        assert fork.wait() == 0
        return answered, fork.stderr

    return answers


@pytest.mark.heavy
@pytest.mark.parametrize("bound", [("--max-cost", "0.0005"), ("--max-tokens", "1200")])
def test_a_spent_budget_is_an_error_that_no_client_repeats(asked, model, bound):
    if bound[0] == "--max-cost":
        pytest.importorskip("genai_prices")
    answers, lines = asked(*bound)
    refused = [answer for answer in answers if isinstance(answer, openai.APIError)]
    assert {type(answer) for answer in refused} == {openai.RateLimitError}
    assert (len(answers) - len(refused), model.counts()["requests"]) == (3, 3)
    line = f"{bound[0]} {bound[1].replace('1200', '1,200')} is reached, with "
    assert refused[0].body["message"].startswith(line)
    assert {(error.type, error.code) for error in refused} == {("insufficient_quota", "insufficient_quota")}
    assert lines.count(line) == 1


@pytest.mark.heavy
def test_calls_of_all_sessions_keep_one_pace(asked, model):
    model.change(latency=0.05)
    answers, _ = asked("--concurrency", "2", requests=8)
    assert all(answer.choices for answer in answers)
    assert model.counts()["most_in_flight"] == 2


@pytest.mark.heavy
def test_a_bound_of_time_ends_it(serving):
    _, fork = serving(*USER[:2], "--max-time", "1s")
    assert fork.wait() == 0


@pytest.mark.heavy
def test_a_model_without_a_price_is_one_line(duologue, model, tmp_path):
    pytest.importorskip("genai_prices")
    for arguments, line in (
        (("--goal", "a", "--user", "openai:mine", "--max-cost", 1), "--max-cost: the price of the model 'mine'"),
    ):
        code, out, err = duologue("serve-user", *arguments)
        assert (code, out) == (2, "")
        assert line in err.splitlines()[-1]
