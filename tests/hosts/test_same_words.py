"""In each harness where the user opens, its messages are byte for byte those of a loop by hand, and those stored here."""

import asyncio
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue.hosts import UserEnded

STORED = Path(__file__).parent / "messages.json"
"""The user's messages, as `duologue.user` gave them when they were stored: the same in each environment."""
SCENARIO = {"goal": "move my flight to 2026-05-03", "facts": ["The booking code is QX4821.", "The name is Quill."]}


def customer() -> duologue.hosts.User:
    return duologue.user(**SCENARIO, behaviours=["incomplete"], seed=5)


def agent(messages: list[dict[str, Any]]) -> str:
    """An agent that asks for the code, then for the name."""
    texts = " ".join(str(message["content"]) for message in messages if message["role"] == "user")
    if "QX4821" not in texts:
        return "Which is the booking code?"
    return "Done: it is booked on 2026-05-03." if "Quill" in texts else "And your name?"


def of_user(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "user"]


async def by_hand() -> list[str]:
    """The user's messages before its last one, in a loop over `user.reply`."""
    user, messages = customer(), []
    while not isinstance(answer := await user.reply(messages), UserEnded):
        messages.append({"role": "user", "content": answer.text})
        messages.append({"role": "assistant", "content": agent(messages)})
    return of_user(messages)


def in_openevals() -> list[str]:
    from openevals.simulators import run_multiturn_simulation

    from duologue.hosts import openevals

    heard: list[dict[str, Any]] = []

    def app(message: dict[str, Any], *, thread_id: str, **others: Any) -> dict[str, Any]:
        heard.append(message)
        heard.append({"role": "assistant", "content": agent(heard)})
        return heard[-1]

    result = run_multiturn_simulation(app=app, **openevals.sides(customer()), max_turns=10)
    return of_user(result["trajectory"])


def in_inspect() -> list[str]:
    from inspect_ai import Task, eval
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from duologue.hosts import inspect

    def answer(messages: list[Any], *others: Any) -> Any:
        heard = [{"role": message.role, "content": message.text} for message in messages]
        output = ModelOutput.from_content("mockllm/model", agent(heard))
        output.usage = ModelUsage()
        return output

    task = Task(dataset=inspect.dataset([SCENARIO]), solver=inspect.simulated_user(behaviours=["incomplete"], seed=5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of what Inspect calls
        [log] = eval(task, model=get_model("mockllm/model", custom_outputs=answer), display="none", log_dir="logs")
    assert log.status == "success", log.error and log.error.traceback
    return of_user([message.model_dump() for message in log.samples[0].messages])[:-1]  # without its goodbye


PACKAGES: dict[str, tuple[Callable[[], list[str]], str]] = {
    "openevals": (in_openevals, "openevals"),
    "inspect": (in_inspect, "inspect_ai"),
}
"""Each harness where the user opens, with the package that it needs."""


@pytest.mark.heavy
@pytest.mark.parametrize("host", PACKAGES)
def test_its_messages_are_those_of_a_loop_by_hand(host: str) -> None:
    hold, package = PACKAGES[host]
    pytest.importorskip(package)
    assert hold() == asyncio.run(by_hand()) == json.loads(STORED.read_text())


async def test_a_loop_by_hand_has_the_stored_messages() -> None:
    assert await by_hand() == json.loads(STORED.read_text())
