"""Runs that are killed at moments drawn by a seed: `python -m tests.benchmarks.kills` prints a table.

Each kind of run is killed by each signal at 1, 8 and 64 at a time, and resumed until it is complete. Beside it a process
for each core keeps the machine busy. The loopback endpoint notes when each request came and when each reply was sent.
"""

import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from duologue.data.formats import record_lines
from tests.cli.recllmsim.rated import labels_of_reply, write
from tests.faulty.client import Faulty
from tests.forks.client import Forks

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CONCURRENCY = (1, 8, 64)
SETTLED = 0.25
"""Seconds after which a reply that was sent must have been kept."""
AGENT = '''
from types import SimpleNamespace

from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime


class Rooms:
    """Rooms that were booked."""

    def __init__(self):
        self.booked = []

    def snapshot(self):
        return self.booked

    def restore(self, booked):
        self.booked = list(booked)


def world(scenario):
    return Rooms()


async def clerk(state: MessagesState, runtime: Runtime):
    reply = await ChatOpenAI(model="m", max_retries=0).ainvoke(state["messages"])
    runtime.context.world.booked.append(len(state["messages"]))
    return {"messages": [AIMessage(f"{reply.text} Rooms booked: {runtime.context.world.booked}")]}


agent = StateGraph(MessagesState).add_node("clerk", clerk).add_edge(START, "clerk").compile()
'''


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Kind:
    """A command, its data in the end, and the file that shows that it can be resumed."""

    command: str
    data: Callable[[Path, str], Any]
    mark: str = ""
    reply: str | None = None
    code: int = 0
    at_once: tuple[int, ...] = CONCURRENCY
    progress: str = ""
    """A file whose lines count in place of the endpoint's replies."""


def file(*names: str) -> Callable[[Path, str], Any]:
    return lambda folder, stdout: [(folder / name).read_bytes() for name in names]


def records(folder: Path, stdout: str) -> Any:
    conversations = record_lines.read(folder / "run" / "conversations.jsonl")
    return [record_lines.line(conversation.without_timing()) for conversation in conversations]


PROFILE = {
    "personality": ["冷静"], "daily_interests": ["阅读"], "travel_habits": ["看展"], "dining_preferences": ["外卖"],
    "spending_habits": ["节俭"],
}  # fmt: skip
SIMQUAC = "simulate simquac --topics topics.jsonl --max-turns 2 --out run --yes"
DATASET, MANIFEST = file("run/dataset/simquac.json"), "run/manifest.json"
MODELS = "--user openai:m --assistant openai:m"
KINDS: Mapping[str, Kind] = {
    "simulate, offline": Kind(SIMQUAC, DATASET, MANIFEST, progress="run/conversations.jsonl"),
    "simulate": Kind(f"{SIMQUAC} {MODELS}", DATASET, MANIFEST),
    "test, agent and world": Kind(
        "test --assistant mine:agent --world mine:world --user openai:m --scenarios goals.jsonl --max-turns 3 --out run --yes",
        records,
        MANIFEST,
    ),
    "annotate": Kind(
        "annotate people --labels style --model openai:m --votes 3 --out labels --yes",
        file("labels/labels.jsonl", "labels/manifest.json"),
        "labels/manifest.json",
        '{"politeness": "Polite"}',
        1,
    ),
    "judges": Kind(
        "papers recllmsim judges people --model openai:m --journal judged.jsonl --json --yes",
        lambda folder, stdout: stdout,
        reply='{"reason": "fine", "value": "4"}',
    ),
    "identify": Kind(
        "papers recllmsim predict guests --model openai:m --journal guessed.jsonl --json --yes",
        lambda folder, stdout: stdout,
        reply=json.dumps({key: [5, 1, 2] for key in PROFILE}),
    ),
    "profiles": Kind(
        "papers recllmsim profiles 40 --model openai:m --out made.txt --yes",
        file("made.txt"),
        at_once=(1,),
    ),
}


def inputs(folder: Path) -> None:
    """What all commands read."""
    folder.mkdir()
    topics, goals = [], []
    for number in range(64):
        section = f"The tower of place {number} was built in {1700 + number} by Ada Quill. Ships pass it at night. "
        section += "Three keepers lived there until 1968. Maria Holt wrote a guide, which was printed twice."
        topics.append(
            {"title": f"Place {number}", "background": "By the sea.", "header": "The tower", "section": section}
        )
        goals.append({"goal": f"Book room {number}.", "success": {"text_contains": "booked"}})
    for name, lines in (("topics", topics), ("goals", goals)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "mine.py").write_text(AGENT)
    write(folder / "people", labels_of_reply)
    for path in write(folder / "guests", labels_of_reply).rglob("*.json"):
        value = json.loads(path.read_text())
        path.write_text(json.dumps(value | {"profile": value["profile"] | PROFILE}, ensure_ascii=False))


@dataclass
class Run:
    """A command in a folder of its own, begun, killed and resumed."""

    forks: Forks
    endpoint: Any
    kind: Kind
    at_once: int
    folder: Path
    kills: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """When it was killed, and by which signal."""
    codes: Counter[str] = field(default_factory=Counter[str])
    stdout: str = ""

    def start(self) -> Any:
        command = self.kind.command.split() + ["--concurrency", str(self.at_once)] * (self.kind.at_once != (1,))
        resumed = bool(self.kind.mark) and (self.folder / self.kind.mark).exists()
        return self.forks([*command, *["--resume"] * resumed], self.folder, self.endpoint.environment)

    def progress(self) -> int:
        if not self.kind.progress:
            return int(self.endpoint.counts()["answered"])
        path = self.folder / self.kind.progress
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def kill(self, number: signal.Signals, after: int, pause: float) -> bool:
        """Go on until so much more is done, and kill the command a moment later; whether it lived until then."""
        before, fork = self.progress(), self.start()
        while not fork.over and self.progress() < before + after:
            time.sleep(0.01)
        time.sleep(pause)
        moment = time.monotonic()
        if fork.over:
            return False
        os.kill(fork.pid, number)
        code = fork.wait()
        code = 128 - code if code < 0 else code
        expected = 128 + number
        if code != expected and code in (0, self.kind.code) and number != signal.SIGKILL:
            return False  # it was ending by then
        self.kills.append((moment, number.name))
        self.codes[f"{number.name} {code}" if code != expected else ""] += 1
        if code != expected:
            say(f"{self.kind.command}: {number.name}: {code}: {fork.stderr[-500:]}")
        return True

    def finish(self) -> "Run":
        fork = self.start()
        assert fork.wait() == self.kind.code, fork.stderr
        self.stdout = fork.stdout
        return self

    @property
    def data(self) -> Any:
        return self.kind.data(self.folder, self.stdout)

    @property
    def events(self) -> list[dict[str, Any]]:
        path = self.folder.with_suffix(".times")
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def again(self, whole: "Run") -> tuple[int, int]:
        """Requests beyond those of the whole run; and those of them whose reply was sent a while before the asker's kill."""
        needed = Counter(event["request"] for event in whole.events if "asked" in event)
        requests, asked, sent = Counter[str](), dict[str, float](), dict[str, float]()
        more = late = 0
        for event in self.events:
            name = event["request"]
            if "sent" in event:
                sent[name] = event["sent"]
                continue
            requests[name] += 1
            if requests[name] > needed[name]:
                more += 1
                # The first kill after it was asked: an endpoint goes on and sends its reply to a process that is dead.
                kill, by = min((one for one in self.kills if one[0] > asked[name]), default=(0.0, ""))
                if name in sent and sent[name] <= kill - SETTLED:
                    late += 1
                    say(f"{self.kind.command}: {by} {kill - sent[name]:.3f} s after a reply that is asked for again")
            asked[name] = event["asked"]
            sent.pop(name, None)
        return more, late


@contextmanager
def neighbours(number: int) -> Iterator[None]:
    """Inside, so many processes do nothing but work."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@dataclass
class Cell:
    """What was seen of one kind of run at one concurrency."""

    kills: Counter[str] = field(default_factory=Counter[str])
    runs: int = 0
    same: int = 0
    requests: int = 0
    more: int = 0
    late: int = 0
    codes: Counter[str] = field(default_factory=Counter[str])


def measured(
    name: str, at_once: int, each: int, forks: Forks, faulty: Faulty, folder: Path, chance: random.Random
) -> Cell:
    """Kill runs of a kind until each signal has struck so often."""
    kind, cell = KINDS[name], Cell()
    numbers = itertools.count()

    def run() -> Run:
        place = folder / f"{next(numbers)}"
        inputs(place)
        settings = {"reply": kind.reply} if kind.reply else {}
        endpoint = faulty(latency=0.05, jitter=0.1, times=str(place.with_suffix(".times")), **settings)
        return Run(forks, endpoint, kind, at_once, place)

    whole = run().finish()
    cell.requests = sum("asked" in event for event in whole.events)
    total = whole.progress()
    left = [number for number in SIGNALS for _ in range(each)]
    chance.shuffle(left)
    while left:
        killed = run()
        while left:
            after, pause = chance.randint(0, max(1, total // (3 * each + 1))), chance.uniform(0, 0.3)
            if not killed.kill(left[-1], after, pause):
                break
            cell.kills[left.pop().name] += 1
        killed.finish()
        cell.runs += 1
        cell.same += killed.data == whole.data
        more, late = killed.again(whole)
        cell.more, cell.late, cell.codes = cell.more + more, cell.late + late, cell.codes + killed.codes
        killed.endpoint.close()
    whole.endpoint.close()
    return cell


def row(name: str, at_once: int, cell: Cell) -> str:
    kills = " ".join(str(cell.kills[number.name]) for number in SIGNALS)
    odd = ", ".join(code for code in cell.codes if code) or "as expected"
    return f"| {name} | {at_once} | {kills} | {cell.same} of {cell.runs} | {cell.requests} | {cell.more} | {cell.late} | {odd} |"


HEAD = """| run | at a time | kills: KILL, TERM, INT | equal data | requests of a whole run | made again | of them sent 250 ms before | exit codes |
|---|---|---|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.kills", description=__doc__)
    parser.add_argument("--only", action="append", choices=KINDS, default=[], help="only this kind; may be repeated")
    parser.add_argument("--at-once", action="append", type=int, choices=CONCURRENCY, default=[])
    parser.add_argument("--each", type=int, default=5, help="kills by each signal in each cell (5)")
    parser.add_argument("--neighbours", type=int, default=os.cpu_count(), help="busy processes beside it")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulty, forks = Faulty(), Forks("--all")
    kills = 0
    print(HEAD, flush=True)
    try:
        with tempfile.TemporaryDirectory() as folder, neighbours(arguments.neighbours):
            for number, (name, kind) in enumerate(KINDS.items()):
                for at_once in kind.at_once:
                    if (not arguments.only or name in arguments.only) and at_once in (arguments.at_once or CONCURRENCY):
                        chance = random.Random(f"{arguments.seed} {name} {at_once}")
                        place = Path(folder, f"{number} {at_once}")
                        place.mkdir()
                        cell = measured(name, at_once, arguments.each, forks, faulty, place, chance)
                        kills += sum(cell.kills.values())
                        print(row(name, at_once, cell), flush=True)
    finally:
        forks.close()
        faulty.close()
    print(f"\n{kills} kills")


if __name__ == "__main__":
    main()
