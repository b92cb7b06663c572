"""A run in several processes or on Ray that is started, killed and resumed in a folder of its own."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from duologue.data.formats import record_lines


class Divided:
    """A run of as many topics with `concurrency` conversations at the same time; `speaker` plays both sides."""

    def __init__(
        self,
        forks: Any,
        endpoint: Any,
        folder: Path,
        topics: int = 16,
        *,
        speaker: str = "openai:m",
        concurrency: int = 4,
        environment: dict[str, str] | None = None,
        more: str = "",
    ) -> None:
        self.forks, self.endpoint, self.folder = forks, endpoint, folder
        self.environment = (endpoint.environment if endpoint is not None else {}) | (environment or {})
        folder.mkdir()
        lines = [
            f'{{"title": "Place {n}", "background": "A place.", "header": "The tower", "section": "The tower of place {n} '
            f'was built in {1700 + n} by Ada Quill. Ships pass it at night. Maria Holt wrote a guide."}}\n'
            for n in range(topics)
        ]
        (folder / "topics.jsonl").write_text("".join(lines))
        command = f"simulate simquac --topics topics.jsonl --user {speaker} --assistant {speaker} --out run --yes"
        self.command = [*command.split(), "--max-turns", "3", "--concurrency", str(concurrency), *more.split()]

    def start(self, *more: str) -> Any:
        resume = ["--resume"] * (self.folder / "run" / "manifest.json").exists()
        return self.forks([*self.command, *resume, *more], self.folder, self.environment)

    def finish(self, *more: str) -> Any:
        fork = self.start(*more)
        assert fork.wait() == 0, fork.stderr
        return fork

    def reached(self, answered: int, fork: Any) -> None:
        """Wait until so many replies were sent."""
        self.endpoint.until(lambda counts: fork.over or counts["answered"] >= answered)
        assert not fork.over, fork.stderr

    @property
    def result(self) -> tuple[Any, ...]:
        """The data set, the records without times, and which files there are."""
        run = self.folder / "run"
        return (run / "dataset/simquac.json").read_bytes(), records(run), sorted(path.name for path in run.iterdir())


def records(folder: Path) -> list[str]:
    """The records as they stand in the file, without times."""
    conversations = record_lines.read(folder / "conversations.jsonl")
    return [record_lines.line(conversation.without_timing()) for conversation in conversations]


def children(parent: int) -> list[int]:
    """The processes that a process has started."""
    processes: list[int] = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        processes += map(int, task.read_text().split())
    return processes


def descendants(parent: int) -> list[int]:
    """The processes that a process has started, with those that these have started."""
    processes: list[int] = []
    for child in children(parent):
        processes += [child, *descendants(child)]
    return processes


def gone(processes: list[int]) -> bool:
    return not any(Path(f"/proc/{process}").exists() for process in processes)


def until(holds: Callable[[], object]) -> None:
    for _ in range(45_000):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("not within 900 seconds")
