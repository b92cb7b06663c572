"""Small conversations, written out, and the people of the open data, measured once."""

import sys
from collections.abc import Callable

import pytest

from duologue.cli import main
from duologue.data import Conversation, Message, recllmsim
from duologue.data.identity import digest

Talk = Callable[..., Conversation]


@pytest.fixture
def talk() -> Talk:
    """A conversation of these messages, the user's first, as somebody's own data has it."""

    def made(*texts, user="a", task=None, labels=None, id=None, **extra):
        roles = ("user", "assistant")
        messages = tuple(Message(role=roles[n % 2], text=text, labels=labels or {}) for n, text in enumerate(texts))
        more = {"user": user, **({"task": task} if task else {}), **extra}
        name = id or f"{user}-{digest(texts)[:12]}"
        return Conversation(id=name, scenario={"kind": "messages", "digest": name}, messages=messages, extra=more)

    return made


@pytest.fixture(scope="session")
def open_sides(open_data):
    """The open conversations: simulated users and people."""
    read = recllmsim.read(open_data / "recllmsim")
    simulated = [one for one in read if recllmsim.variant(one) == "simulated"]
    return simulated, [one for one in read if recllmsim.variant(one) != "simulated"]


@pytest.fixture
def duologue_command(capsys, monkeypatch):
    """Exit code, stdout and stderr of `duologue ...`."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["duologue", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        return ended.value.code or 0, told.out, told.err

    return run
