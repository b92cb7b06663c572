"""What every test starts from: no key, no proxy, no `.env`, a folder of its own, the same examples each time."""

import dis
import functools
import gc
import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import duologue

# jsonschema, which nbformat brings, builds this grammar for seconds when it is imported; it is for a format of
# addresses that no notebook has, and jsonschema does without it where it is absent.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

# LangGraph reads the instructions of each function of each graph that is made, for graphs within; they are the same ones
# in all tests, and reading them is most of what making a graph takes.
_instructions = functools.cache(lambda *of, _read=dis.get_instructions, **more: tuple(_read(*of, **more)))
dis.get_instructions = lambda *of, **more: iter(_instructions(*of, **more))

# The workers of the suite take all cores: more threads of the linear algebra wait for each other and take twice the time.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

# What a kill leaves is there without it, and no test can pull a plug.
os.fsync = lambda handle: None  # type: ignore[assignment]

# What a shell starts in the background ignores Ctrl-C and SIGQUIT, and so would the processes that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

# The root is a package, which pytest would import a second time at the first test, by the name of its folder.
sys.modules.setdefault(Path(__file__).parents[1].name, duologue)

# What is imported and collected stays until the end: looking through it for garbage takes a tenth of the tests' CPU.
gc.disable()


def pytest_collection_finish() -> None:
    """From now on, garbage is looked for, more rarely than usual, in what tests make."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()


settings.register_profile(
    "duologue",
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("duologue")

FOREIGN = ("LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_", "OPENAI_", "DUOLOGUE_")
"""Beginnings of the environment variables that would change what is tested."""


@pytest.fixture(autouse=True)
def own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nobody's key, endpoint or proxy, and an empty folder to run in, so that no `.env` is found.

    Modules of this folder, and paths to it, are forgotten after it: the next test may have others of their names.
    """
    for name in list(os.environ):
        if name.upper().startswith(FOREIGN) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    paths = sys.path[:]
    yield
    sys.path[:] = paths
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Without the trace, where the test is marked so: under xdist, pytest-cov's own `no_cover` traces all the same."""
    tracer = sys.gettrace()
    if item.get_closest_marker("untraced"):
        sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


def _client(folder: str) -> Any:
    """The client of a process that tests start: `tests/FOLDER/client.py`."""
    spec = importlib.util.spec_from_file_location(f"{folder}_client", Path(__file__).parent / folder / "client.py")
    assert spec is not None
    assert spec.loader is not None
    client = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = client  # where dataclasses look for it
    spec.loader.exec_module(client)
    return client


@pytest.fixture(scope="session")
def faulty_process() -> Iterator[Any]:
    """The process of the endpoints of `faulty`."""
    process = _client("faulty").Faulty()
    yield process
    process.close()


@pytest.fixture(scope="session")
def forks() -> Iterator[Any]:
    """A function that starts a command in a process of its own, within milliseconds: see `tests/forks/client.py`."""
    process = _client("forks").Forks()
    yield process
    process.close()


@pytest.fixture
def faulty(faulty_process: Any) -> Iterator[Any]:
    """A function that opens an endpoint with faults and schedules: see `tests/faulty/endpoint.py` for its settings."""
    opened: list[Any] = []

    def open_endpoint(**settings: Any) -> Any:
        opened.append(faulty_process(**settings))
        return opened[-1]

    yield open_endpoint
    for endpoint in opened:
        endpoint.close()


@pytest.fixture
def steps() -> Callable[..., int]:
    """A function that calls another and counts the lines of the package that run: its work, on any machine.

    What a built-in function does, such as a regular expression, is one step of a line: see tests/benchmarks.
    """
    package = Path(str(importlib.import_module("duologue").__file__)).parent
    rooms = tuple(f"{package / room}{os.sep}" for room in ("data", "prompts", "nodes", "graphs", "runs", "analysis"))

    def counted(function: Callable[..., object], *arguments: object) -> int:
        count = 0

        def line(frame: Any, event: str, argument: object) -> Any:
            nonlocal count
            count += event == "line"
            return line

        def call(frame: Any, event: str, argument: object) -> Any:
            return line if frame.f_code.co_filename.startswith(rooms) else None

        before = sys.gettrace()
        sys.settrace(call)
        try:
            function(*arguments)
        finally:
            sys.settrace(before)
        return count

    return counted


@pytest.fixture(scope="session")
def open_data() -> Path:
    """The open part of the published data, which lies beside the repository."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "seed-data"
    if not folder.is_dir():
        pytest.skip(f"the open data is not at {folder}")
    return folder


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry whose new domains and formats are gone after the test."""
    from duologue.data import domains

    for name in ("_own", "_own_formats"):
        monkeypatch.setattr(domains, name, {})


@pytest.fixture
def airline(own_registry: None) -> Any:
    """A third domain, registered as in a notebook: its scenarios are bookings, its files logs of a counter."""
    from duologue.data import Conversation, Dataset, Domain, Format, Material, Message, domains
    from duologue.data.rules import Rule

    def promise(conversation):
        for number, message in enumerate(conversation.messages):
            if message.role == "assistant" and "promise" in message.text:
                yield number, "promises what no tool confirmed"

    def read(path):
        for number, block in enumerate(path.read_text().split("== ")[1:]):
            head, *lines = block.strip().split("\n")
            code, goal = head.split(": ", 1)
            messages = tuple(
                Message(role="user" if line.startswith("C") else "assistant", text=line[3:]) for line in lines
            )
            scenario = {"kind": "airline", "booking": code, "goal": goal, "private": {"seat": "window"}}
            yield Conversation(id=f"log{number}", scenario=scenario, messages=messages)

    def write(conversations, path):
        lines = []
        for each in conversations:
            lines.append(f"== {each.scenario['booking']}: {each.scenario['goal']}")
            lines += [f"{'C' if m.role == 'user' else 'D'}: {m.text}" for m in each.messages]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        return ["private facts"]

    promises = {"promise": Rule("error", "a promise that no tool confirmed", promise)}

    class Airline(Domain):
        kind = "airline"
        formats = (Format("counter-log", "logs of a counter", lambda source: source.text.startswith("== "), read),)
        dataset = Dataset("counter.log", "what was said at the counter", write, attribution="The bookings are made up.")
        rules = promises

        def title(self, scenario):
            return f"Booking {scenario['booking']}"

        def material(self, scenario):
            return (Material("What is wanted", scenario["goal"]), Material("Ticket", "Fare B, no refund.", source=True))

        def refuses(self, message):
            return message.text.startswith("We cannot")

        def user(self, conversation):
            return conversation.scenario["booking"]

    return domains.register(Airline())


@pytest.fixture
def only_new_objects() -> None:
    """`gc.get_objects()` gives what was made in the test alone: it is asked for again and again."""
    gc.collect()
    gc.freeze()
