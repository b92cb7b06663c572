"""A full or failing disk under a run: one line, no finished conversation is lost, and it goes on."""

import asyncio
import errno
import json
import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest

import duologue
from duologue import data
from duologue.graphs import simquac
from duologue.nodes import Limits
from duologue.runs import Conduct, RunError
from duologue.runs.engine import conduct
from tests.fake_models import PaidModel

LIMITS = Limits(max_turns=1)
NAMES = ("whole", "run")


class Slow(PaidModel):
    """As long as it is not `open` it asks about Place 1 only when another conversation is over, and waits for long."""

    misbehave: float = 0
    state: Any

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **more: Any) -> Any:
        if not self.state["open"] and "Place 1" in " ".join(message.text for message in messages):
            if self.side == "teacher":
                await asyncio.sleep(20)
            await asyncio.to_thread(self.state["over"].wait, 20)
        return self._generate(messages, stop, **more)


@pytest.fixture
def till():
    return {"calls": [], "open": False, "over": threading.Event()}


@pytest.fixture
def disk(monkeypatch, till):
    """A disk that fails to keep `calls.jsonl` after the first conversation, until it is mended.

    It begins to fail when the other conversation has its question.
    """
    state, sync = {"broken": True}, os.fsync

    def reply_count():
        return Path("run/calls.jsonl").read_text().count('"reply"')

    def fsync(handle):
        file = Path(f"/proc/self/fd/{handle}").readlink().name
        if file == "calls.jsonl" and state["broken"] and till["over"].is_set() and reply_count() >= 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)
        if file == "conversations.jsonl":
            till["over"].set()

    monkeypatch.setattr("duologue.runs.journals.journal.os.fsync", fsync)
    return state


def simulated(till, topics, **more):
    user, assistant = (Slow(side=side, till=till["calls"], state=till) for side in ("student", "teacher"))
    cast = simquac.cast(user=user, assistant=assistant)
    return duologue.simulate(cast, simquac.scenarios(topics(2)), limits=LIMITS, out="run", **more)


FULL = r"run/calls\.jsonl: cannot be written \(No space left on device\): make room or mend the disk, then resume"


def test_replies_that_cannot_be_brought_to_the_disk_end_the_run_at_once(disk, till, topics, monkeypatch):
    monkeypatch.setattr(conduct, "SYNCED", 0.001)
    with pytest.raises(RunError, match=FULL):  # while the second conversation waits
        simulated(till, topics)
    (conversation,) = data.load("run").conversations
    assert conversation.scenario["title"] == "Place 0"
    assert data.load("run/dataset").conversations
    disk["broken"], till["open"], paid = False, True, len(till["calls"])
    first, second = simulated(till, topics, resume=True)
    assert first == conversation
    assert second.finished
    assert len(till["calls"]) == paid + 1


def test_a_disk_that_fails_at_the_last_reply_keeps_what_is_finished(disk, till, topics, monkeypatch):
    monkeypatch.setattr(conduct, "SYNCED", 1000.0)
    till["open"] = True
    with pytest.raises(RunError, match=FULL):
        simulated(till, topics)
    paid, disk["broken"] = len(till["calls"]), False
    assert len(simulated(till, topics, resume=True)) == 2  # and nobody holds the file any more
    assert len(till["calls"]) == paid


def test_a_record_without_a_folder_that_cannot_be_kept_ends_the_run_too(till, topics, monkeypatch):
    def fsync(handle):
        if os.fstat(handle).st_size > 100:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("duologue.runs.journals.journal.os.fsync", fsync)
    monkeypatch.setattr(conduct, "SYNCED", 0.001)
    user, assistant = (Slow(side=side, till=till["calls"], state=till) for side in ("student", "teacher"))
    cast = simquac.cast(user=user, assistant=assistant)
    with pytest.raises(RunError, match=r"record\.jsonl: cannot be written \(Input/output error\)"):
        duologue.simulate(cast, simquac.scenarios(topics(2)), limits=LIMITS, conduct=Conduct(record="record.jsonl"))


def test_a_full_disk_under_the_journal_of_calls_is_one_line_and_the_run_goes_on(
    forks: Any, faulty: Any, tmp_path: Path
) -> None:
    endpoint, other = faulty(), faulty()
    (cwd := tmp_path / "cwd").mkdir()
    command = "simulate simquac --max-turns 2 --limit 3 --concurrency 2 --user openai:m --assistant openai:m".split()
    whole = forks([*command, "--out", "whole"], cwd, other.environment)
    ended = forks([*command, "--out", "run"], cwd, endpoint.environment, file=12_000)
    assert ended.wait() == 1
    last = ended.stderr.splitlines()[-1]
    assert re.fullmatch(
        r"duologue: run/(calls|failures)\.jsonl: cannot be written \(File too large\): make room .*, then resume", last
    )
    assert "Traceback" not in ended.stderr
    journal = (cwd / "run/calls.jsonl").read_bytes()
    assert journal.endswith(b"\n")
    assert all(json.loads(line) for line in journal.splitlines())
    assert forks([*command, "--out", "run", "--resume"], cwd, endpoint.environment).wait() == 0
    assert endpoint.counts()["repeats"] <= 2  # those that were in flight
    assert whole.wait() == 0
    texts = [[[message.text for message in one.messages] for one in data.load(cwd / n).conversations] for n in NAMES]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 3
