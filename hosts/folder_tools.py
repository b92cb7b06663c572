"""The tools of a coding agent on the files of one folder; a protocol of its own carries them."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from ..data import load
from ..errors import SettingError
from ..runs.folder.run_folder import new_folder
from ..runs.folder.run_state import RunInfo
from ..runs.listing import listed
from .folder_commands import CommandFolder, without_secrets
from .shown_text import conversation_of, conversation_text, listed_text

OUT = "out"
"""Folder of the runs."""
_OF_FILE = re.compile(r"(?i)^(?:replay|people|hf):|[?&](?:like|rewrite)=")
"""Models that read a file."""


def _field(description: str, **bounds: Any) -> Any:
    return Field(description=description, **bounds)


SourceName = Annotated[str, _field("A run folder, or a file of conversations: logs, a data set.")]
EarlierRun = Annotated[
    str | None, _field("Run folder of an earlier test, for a comparison in pairs of scenario and repeat.")
]
Number = Annotated[int | None, Field(ge=1)]


class ToolAnswer(NamedTuple):
    """The answer of a tool."""

    text: str
    code: int = 0
    """Exit code of its command: 0, 1 for a test that did not pass or for a finding, more if it could not do its work."""
    run: str | None = None
    """The run folder that it is about."""


class FolderTools:
    """Tools that read conversations in a folder, and may test an agent there, into run folders in its `out`."""

    def __init__(self, root: Path, *, may_simulate: bool = False) -> None:
        self.root, self._folder, self._may_simulate = root, CommandFolder(root), may_simulate
        self._alone = asyncio.Lock()
        """One test at a time: each takes the next free folder."""

    def runs(self) -> list[RunInfo]:
        """The runs in the folder and in its `out`."""
        return listed([folder for folder in (self.root / OUT, self.root) if folder.is_dir()])

    async def test(
        self,
        assistant: Annotated[
            str | None, _field("The agent: MODULE:NAME in the folder, agent:URL, a2a:URL, or a model as openai:NAME.")
        ] = None,
        scenarios: Annotated[str | None, _field("File of JSON lines, a scenario each: goal, facts, success.")] = None,
        run: Annotated[
            str | None, _field("The run folder of a test, such as out/test-1: it is reported, not simulated.")
        ] = None,
        against: EarlierRun = None,
        repeats: Annotated[int, _field("Conversations about each scenario.", ge=1, le=100)] = 1,
        threshold: Annotated[float | None, _field("The share of successes that passes.", ge=0, le=1)] = None,
        user: Annotated[str, _field("The user: offline (rules, no key), or a model such as openai:NAME.")] = "offline",
        behaviour: Annotated[str | None, _field("Difficult users, such as impatient,incomplete.")] = None,
        max_turns: Number = None,
        limit: Annotated[int | None, _field("Only the first scenarios, so many.", ge=1)] = None,
        seed: int = 0,
        max_time: Annotated[str, _field("The longest time of the test, such as 90s or 10m.")] = "10m",
    ) -> ToolAnswer:
        """Test the agent, as its code is now, with simulated users; or report a test that was made (`run`).

        Gives the share of successes with an interval, groups of failures, whose fault they are, and ids of failures.
        """
        if run is not None:
            if assistant is not None or scenarios is not None:
                raise SettingError("run: is reported as it is: leave assistant and scenarios out, or run")
            arguments = ["test", "--no-page", f"--results={self._folder.existing('run', run)}"]
            if against is not None:
                arguments.append(f"--against={self._folder.existing('against', against)}")
            return await self._output(arguments, run)
        if assistant is None or scenarios is None:
            raise SettingError("give assistant and scenarios, or the run of an earlier test")
        if not self._may_simulate:
            raise SettingError(
                "this server is read-only, as it was started without --allow-simulate; give the run of a test to read it"
            )
        options: Mapping[str, object] = {
            "assistant": _model("assistant", assistant),
            "scenarios": self._folder.existing("scenarios", scenarios),
            "against": None if against is None else self._folder.existing("against", against),
            "user": _model("user", user),
            "behaviour": behaviour,
            "repeats": repeats,
            "threshold": threshold,
            "max-turns": max_turns,
            "limit": limit,
            "seed": seed,
            "max-time": max_time,
        }
        chosen = [f"--{name}={value}" for name, value in options.items() if value is not None]
        self._folder.path("out", OUT)
        async with self._alone:
            out = new_folder(self.root / OUT, "test").relative_to(self.root)
            answer = await self._output(["test", *chosen, f"--out={out}"], out.as_posix())
        return answer if (self.root / out).is_dir() else answer._replace(run=None)

    async def show(
        self,
        source: SourceName,
        conversation: Annotated[str | None, _field("An id, or its first characters. Default: all are listed.")] = None,
    ) -> ToolAnswer:
        """Show a conversation with its calls of tools and rejected drafts, or list the conversations of a source."""
        path = self.root / self._folder.existing("source", source)

        def text() -> str:
            loaded = load(path)
            if conversation is None:
                return listed_text(loaded, source)
            return conversation_text(conversation_of(loaded, conversation))

        return ToolAnswer(without_secrets(await asyncio.to_thread(text)))

    async def check(self, source: SourceName) -> ToolAnswer:
        """Check conversations by fixed rules: repeats, leaked prompts, unanswered questions and others."""
        return await self._output(["check", "--", str(self._folder.existing("source", source))])

    async def compare(self, simulated: SourceName, people: SourceName) -> ToolAnswer:
        """Measure how far simulated users are from people, measure by measure, with intervals."""
        sources = {"simulated": simulated, "people": people}
        paths = [str(self._folder.existing(name, path)) for name, path in sources.items()]
        return await self._output(["compare", *([] if self._may_simulate else ["--no-baseline"]), "--", *paths])

    async def _output(self, arguments: list[str], run: str | None = None) -> ToolAnswer:
        output = await self._folder.run(arguments)
        return ToolAnswer(output.text or "The command printed nothing.", output.code, run)


def _model(what: str, name: str) -> str:
    """The model or agent of this name; SettingError for one that reads a file."""
    if _OF_FILE.search(name):
        raise SettingError(f"{what}: {name!r} reads a file, which this server does not do for a model")
    return name
