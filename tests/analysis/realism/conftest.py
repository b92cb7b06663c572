"""Small conversations, written out, and the people of the open data, measured once and halved in many ways."""

import sys
from collections.abc import Callable

import numpy as np
import pytest

from duologue.analysis.realism import MEASURES
from duologue.analysis.realism.measures.transcripts import transcripts_of
from duologue.analysis.realism.statistics.samples import MeasuredUsers, measured
from duologue.cli import main
from duologue.data import Conversation, Message, recllmsim
from duologue.data.identity import digest
from tests.analysis.realism.courtesies import side

Talk = Callable[..., Conversation]


@pytest.fixture
def talk() -> Talk:
    """A conversation of these messages, the user's first, as somebody's own data has it."""

    def conversation(*texts, user="a", task=None, labels=None, id=None, **extra):
        roles = ("user", "assistant")
        messages = tuple(Message(role=roles[n % 2], text=text, labels=labels or {}) for n, text in enumerate(texts))
        more = {"user": user, **({"task": task} if task else {}), **extra}
        name = id or f"{user}-{digest(texts)[:12]}"
        return Conversation(id=name, scenario={"kind": "messages", "digest": name}, messages=messages, extra=more)

    return conversation


@pytest.fixture(scope="session")
def open_sides(open_data):
    """The open conversations: simulated users and people."""
    read = recllmsim.read(open_data / "recllmsim")
    simulated = [one for one in read if recllmsim.variant(one) == "simulated"]
    return simulated, [one for one in read if recllmsim.variant(one) != "simulated"]


@pytest.fixture(scope="session")
def people(open_sides):
    return open_sides[1]


@pytest.fixture(scope="session")
def plain(people):
    """All the people, measured once."""
    return measured(transcripts_of(people, "zh"), MEASURES)


@pytest.fixture(scope="session")
def halved():
    """Two sides of different people, the first of them with the plant: `halved(plain, split, design, planted)`.

    `balanced`: half of the users on each side, with all their conversations. `conversations`: the first side is cut to
    one conversation of each user and task; `one conversation`: of each user. `users`: 20 against 80. `tasks`: two tasks
    are kept to a quarter on the first side, the two others on the second. `one user`: a user of the first side has
    a tenth of all messages.
    """

    def rows(plain: MeasuredUsers, split: int, design: str) -> list[np.ndarray]:
        rng = np.random.default_rng(split)
        users = np.array([transcript.cluster for transcript in plain.transcripts])
        tasks = np.array([transcript.task for transcript in plain.transcripts])
        order = rng.permutation(sorted(set(users.tolist())))
        first, second = (order[:20], order[20:100]) if design == "users" else np.array_split(order, 2)
        sides = [np.isin(users, first), np.isin(users, second)]
        if design in ("conversations", "one conversation"):
            seen = set()
            for row in rng.permutation(len(users)):
                key = (users[row], tasks[row] if design == "conversations" else "")
                sides[0][row] &= key not in seen
                seen.add(key)
        if design == "tasks":
            early = np.isin(tasks, sorted(set(tasks.tolist()))[:2])
            for side, often in ((sides[0], early), (sides[1], ~early)):
                side &= rng.random(len(users)) < np.where(often, 1, 0.25)
        chosen = [np.flatnonzero(side) for side in sides]
        if design == "one user":
            lengths = np.array([len(transcript.texts) for transcript in plain.transcripts])
            talker = rng.choice([user for user in first if (users == user).sum() > 1])
            own, more = np.flatnonzero(users == talker), []
            while lengths[own].sum() + lengths[more].sum() < 0.1 * (lengths.sum() + lengths[more].sum()):
                more.append(rng.choice(own))
            chosen[0] = np.concatenate([chosen[0], np.array(more, dtype=int)])
        return chosen

    def halved(plain: MeasuredUsers, split: int, design: str = "balanced", planted: MeasuredUsers | None = None):
        sides = []
        for source, chosen in zip((planted or plain, plain), rows(plain, split, design), strict=True):
            sides.append(MeasuredUsers(tuple(source.transcripts[row] for row in chosen), source.values[chosen]))
        return tuple(sides)

    return halved


@pytest.fixture
def duologue_command(capsys, monkeypatch):
    """Exit code, stdout and stderr of `duologue ...`."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["duologue", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return ended.value.code or 0, output.out, output.err

    return run


@pytest.fixture
def two_sides(talk):
    return side(talk, 24, True), side(talk, 24, False)
