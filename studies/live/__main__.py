"""The process of a growing run's page, which ends soon after the command that started it, also a killed one.

Its input is a line of JSON: `folders` by name, `title`, and `follows`, whether the command simulates nothing and only
watches. At its end the command writes a second line, the seconds for which the page stays if no browser has opened it.

Its output is lines of JSON: `["address", ADDRESS]`, `["stays", ""]` if no browser has opened it, or `["problem", LINE]`.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep

from ...analysis.growth import RunGrowth
from ...errors import DuologueError
from ...views.live.doors import new_token, stay_on_this_machine
from .costs import prices
from .server import LivePage, LiveServer

NICE = 10
"""How far this process stands behind the run for a processor."""
TURN = 0.2
"""Seconds between two looks at whether the command is still there."""
RECENT = 5
"""Seconds since its last request in which a browser counts as being there."""
LONGEST = 15
"""Most seconds that a browser has for the final page."""


class _Command:
    """The command that has started this process, as far as this process' input tells of it."""

    def __init__(self) -> None:
        self.stay = 0.0
        self._ended, self._parent = Event(), os.getppid()
        Thread(target=self._read, daemon=True).start()

    def wait(self) -> None:
        """Wait until the command has written its last line, or has gone.

        A process that it forked may hold its pipe, so its number is looked at too.
        """
        while not self._ended.wait(TURN) and os.getppid() == self._parent:
            pass

    def _read(self) -> None:
        with suppress(ValueError):
            self.stay = float(_line() or 0)
        self._ended.set()


def _serve() -> None:
    for name in ("SIGINT", "SIGHUP"):  # Ctrl-C is for the run, which ends in order and then ends this process
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICE)
    settings = json.loads(_line())
    command = _Command()
    sys.addaudithook(stay_on_this_machine)
    growths = [RunGrowth(Path(folder), name, price_of=prices()) for name, folder in settings["folders"].items()]
    page = LivePage(growths, settings["title"], _looking() if settings["follows"] else None)
    try:
        server = LiveServer(page, new_token())
    except DuologueError as error:
        _print("problem", str(error))
        return
    Thread(target=server.serve_forever, daemon=True).start()
    _print("address", server.address)
    command.wait()
    page.end()
    if not settings["follows"]:
        _wait_for_browser(server, command.stay)


def _looking() -> Callable[[Path], bool]:
    """Whether a process writes in a run folder."""
    from ...data.formats.detection import CONVERSATIONS
    from ...runs.journals.journal import is_being_written  # brings LangGraph along, which other pages do not need

    return lambda folder: is_being_written(folder / CONVERSATIONS)


def _wait_for_browser(server: LiveServer, stay: float) -> None:
    """Wait until a browser has the final page.

    If none has opened the page so far, it waits `stay` seconds for one, and prints a line before.
    """
    page, ended = server.page, monotonic()
    if page.last_request is None and stay:
        _print("stays", "")
    while not page.has_left:
        now = monotonic()
        if (
            now - ended > stay
            if page.last_request is None
            else now - page.last_request > RECENT or now - ended > LONGEST
        ):
            return
        sleep(TURN)
    sleep(1)  # what was asked for last is on its way
    while server.answering and monotonic() - ended < LONGEST + stay:
        sleep(TURN)


def _line() -> bytes:
    """The next line of the input; what there is of it at the end."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(0, 1)):
        line += byte
    return line


def _print(kind: str, text: str) -> None:
    with suppress(OSError):  # the command has gone
        os.write(1, json.dumps([kind, text]).encode() + b"\n")


if __name__ == "__main__":
    _serve()
