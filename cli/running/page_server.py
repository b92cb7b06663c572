"""The process that serves a growing run's page, as a command starts it.

What becomes of it is never an error of the run.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread

from ...data.files.json_files import dumps
from ..streams import BAD_INPUT, flush, say, say_address, stderr

STAY = 30
"""Seconds for which the page of a run at a terminal stays after the run, if it was not opened yet."""
MOST = 60.0
"""Most seconds that a command waits for the process at its end."""


class PageServer:
    """The process of a page for these run folders, by the names that the page gives them.

    Its address is printed as soon as it can be opened. What goes wrong with it is printed, and never raised: the run goes
    on. `follows`: the command simulates nothing, and ends with `follow`.
    """

    def __init__(self, folders: Mapping[str, Path], title: str, *, follows: bool = False) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        settings = {
            "folders": {name: str(folder.absolute()) for name, folder in folders.items()},
            "title": title,
            "follows": follows,
        }
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "duologue.studies.live"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the run
            )
        except OSError as error:
            say(f"--watch: the page cannot be served ({error.strerror}); the run continues")
            return
        self._tell(dumps(settings))
        self._reader = Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def end(self, *, is_cut: bool) -> None:
        """Tell the process that the run has ended, and wait until a browser that is there has the final page.

        `is_cut`: whether Ctrl-C or a signal ended the run; then it does not wait for a browser that has not come yet.
        """
        process = self._process
        if process is None:
            return
        flush()
        self._tell(str(STAY if stderr.is_terminal and not is_cut else 0))
        self._close(process)
        try:
            process.wait(MOST)
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            self._kill(process)
        self._reader.join(1)

    def follow(self) -> int:
        """Wait until Ctrl-C; gives the exit code, 2 if the page cannot be served."""
        process = self._process
        if process is None:
            return BAD_INPUT
        try:
            process.wait()
        except KeyboardInterrupt:
            self._close(process)
            self._kill(process)
            return 0
        finally:
            self._reader.join(1)
        return BAD_INPUT

    def _tell(self, line: str) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError, ValueError):
                process.stdin.write(line.encode() + b"\n")
                process.stdin.flush()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        """Print what the process prints."""
        address, kinds = "", set[str]()
        assert process.stdout is not None
        for line in process.stdout:
            with suppress(ValueError):
                kind, text = json.loads(line)
                kinds.add(kind)
                if kind == "address":
                    address = str(text)
                    say_address("watch", address)
                elif kind == "stays":
                    say_address(f"the page stays for {STAY} seconds, or until Ctrl-C", address)
                else:
                    say(f"--watch: {text}; the run continues")
        process.stdout.close()
        if not kinds and process.wait():
            say("--watch: the page cannot be served; the run continues")

    def _close(self, process: subprocess.Popen[bytes]) -> None:
        with suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        process.wait()
