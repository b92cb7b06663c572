"""Commands of Duologue on the files of one folder, for a caller that may read nothing else."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import SettingError
from ..nodes.settings.environment import keep_all_secrets
from ..nodes.settings.redaction import redacted

LONGEST = 60_000
"""Characters of a text that is given; the middle of a longer one is left out."""
GRACE = 10.0
"""Seconds that a command has to write down what it has, once it is interrupted."""
COMPLETE = (0, 1)
"""Exit codes of a command that did its work; 1 is a test that did not pass, or a finding."""


@dataclass(frozen=True)
class CommandOutput:
    """What a command printed."""

    code: int
    """Its exit code: 0, 1 for a test that did not pass or a finding, or more if it could not do its work."""
    text: str
    """Its results, then its notes, without credentials."""

    @property
    def is_complete(self) -> bool:
        """Whether it did its work."""
        return self.code in COMPLETE


@dataclass(frozen=True)
class CommandFolder:
    """The only folder whose files are read and written."""

    root: Path

    def path(self, what: str, name: str) -> Path:
        """The path of a file or folder in it, relative to it; SettingError for one elsewhere, also by a link."""
        path = Path(os.path.normpath(self.root / name))
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise SettingError(f"{what}: {name!r} is not in the folder of this server: give a path below it")
        return path.relative_to(self.root) if path.is_relative_to(self.root) else path.resolve()

    def existing(self, what: str, name: str) -> Path:
        """As `path`; SettingError also if there is nothing, or a link below it leads elsewhere."""
        path = self.path(what, name)
        whole = self.root / path
        if not whole.exists():
            raise SettingError(f"{what}: there is no {name!r} in the folder of this server")
        root = self.root.resolve()
        for below in whole.rglob("*") if whole.is_dir() else ():
            if below.is_symlink() and not below.resolve().is_relative_to(root):
                raise SettingError(f"{what}: {below.relative_to(self.root)} is a link out of the folder of this server")
        return path

    async def run(self, arguments: Sequence[str]) -> CommandOutput:
        """The output of a command in this folder.

        It has a process of its own, and so the code as it is now. If the caller is cancelled, the command is interrupted,
        writes down what it has, and ends.
        """
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "duologue.cli", *arguments),
            cwd=self.root,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            output, notes = await process.communicate()
        except asyncio.CancelledError:
            await asyncio.shield(_ended(process))
            raise
        text = "\n".join(part.decode("utf-8", "replace").strip() for part in (output, notes))
        return CommandOutput(process.returncode or 0, without_secrets(text.strip()))


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Interrupt a process, and kill its group if it does not end."""
    for number, seconds in ((signal.SIGINT, GRACE), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), seconds)
            return


def without_secrets(text: str) -> str:
    """A text that may leave the process: no credential of the environment or of `.env`, and not too long."""
    keep_all_secrets()
    text = redacted(text)
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n... {len(text) - LONGEST:,} characters are left out ...\n{text[-half:]}"
