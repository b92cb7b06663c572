"""The server of a growing run's page: it answers this machine, only requests to read, and only with the token."""

import json
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from ...analysis.growth import RunGrowth
from ...data.formats.detection import PAGE
from ...data.identity import digest
from ...data.loading import DataSource
from ...errors import SettingError
from ...views import is_page, run_page
from ...views.conversation import conversation_page
from ...views.live.doors import HEADERS, HERE, DoorKey
from ...views.live.page import PARTS, LiveParts, live_page
from ...views.run import IN_ONE_FILE
from ...views.success import without_page_of_pairs
from ...views.testing.ablation import ABLATION_PAGE
from ..pages import ShownSource

FIRST_PORT = 8601
PORTS = 200
"""Ports that are tried, from the first one on."""
PATIENCE = 10
"""Seconds after which a request that does not come to its end is dropped."""
LARGEST = 1 << 26
"""Bytes of the largest page of a run that is served at its end, 64 MiB."""
LONG_POLL = 20.0
"""Seconds after which a browser that waits gets an answer although nothing is new."""
PERIOD = 0.9
"""Seconds between two looks at the run folder."""
DIGITS = 16
WHOLE = "whole"
POLICY = "frame-ancestors 'none'; form-action 'none'"
"""Beside the policy of the pages themselves."""


class LivePage:
    """The runs of a page, and what they are doing: what the server answers with.

    `is_written`: whether a process writes in a folder; None: until `end` is called, one does.
    """

    def __init__(self, runs: Sequence[RunGrowth], title: str, is_written: Callable[[Path], bool] | None = None) -> None:
        self.runs, self.title, self._is_written = runs, title, is_written
        self.is_over = self.has_left = False
        """Whether the command has ended, and whether a browser has then asked for the last that it gets."""
        self.last_request: float | None = None
        """When the page was last asked for."""
        self._parts = LiveParts(runs, self._address)
        self._lock = Lock()
        self._at, self._stated = float("-inf"), dict[str, Any]()

    def end(self) -> None:
        """Note that the command which simulates has ended."""
        self.is_over = True

    def state(self, seen: str) -> dict[str, Any]:
        """The parts of the page that differ from what a browser has seen, and the address of its final page.

        It waits for a difference, so that a browser need not ask again by its clock, which stands still in the background.
        """
        began = monotonic()
        while True:
            with self._lock:
                state = self._state()
                self.last_request = monotonic()
            old = dict(zip(PARTS, seen.split(","), strict=False))
            parts = {name: html for name, html in state["parts"].items() if old.get(name) != digest(html)[:DIGITS]}
            if parts or state["leads_to"] or monotonic() - began > (PERIOD if self.is_over else LONG_POLL):
                return {**state, "parts": parts}
            sleep(PERIOD)

    def _state(self) -> dict[str, Any]:
        """What every browser gets in this second."""
        if monotonic() - self._at > PERIOD:
            over, ended = self.is_over, self._look()
            parts = self._parts.html(*self._words(over=over, ended=ended))
            final = WHOLE if over and ended and self._has_final() else ""
            self.has_left = self.has_left or (over and ended and not final)
            planned, missing = (sum(getattr(run, name) for run in self.runs) for name in ("planned", "missing"))
            self._stated = {
                "seen": ",".join(digest(parts[name])[:DIGITS] for name in PARTS),
                "parts": parts,
                "leads_to": final,
                "title": f"{planned - missing}/{planned} {self.title}",
            }
            self._at = monotonic()
        return self._stated

    def page(self) -> str:
        """The page as it is now."""
        with self._lock:
            self.last_request = monotonic()
            return live_page(self.title, self._state()["parts"])

    def final(self) -> str | None:
        """The page of the ended run: the one that its command wrote, else one of its conversations; None without one."""
        self.has_left = self.is_over
        for path in self._written_pages():
            if is_page(path) and path.stat().st_size <= LARGEST:
                return without_page_of_pairs(path.read_text(encoding="utf-8"), path.parent)
        if len(self.runs) > 1 or not self._has_final():
            return None
        source = ShownSource.of(DataSource(self.runs[0].path))
        return run_page(tuple(source.listed()), self.title, manifest=source.loaded.manifest)

    def conversation(self, number: str, name: str) -> str | None:
        """The page of a conversation of a run; None for another."""
        if not number.isdecimal() or int(number) >= len(self.runs):
            return None
        with self._lock:
            conversation = self.runs[int(number)].conversation(name)
        return None if conversation is None else conversation_page(conversation, back="./")

    def _look(self) -> bool:
        """Read what was added; gives whether nothing was left to be read."""
        looks = [run.look() for run in self.runs]
        return not any(looks)

    def _written_pages(self) -> list[Path]:
        first = self.runs[0].path
        return [first / PAGE, *([first.parent / ABLATION_PAGE] if len(self.runs) > 1 else [])]

    def _has_final(self) -> bool:
        if any(path.is_file() for path in self._written_pages()):
            return True
        return len(self.runs) == 1 and self.runs[0].has_ended and self.runs[0].planned <= IN_ONE_FILE

    def _words(self, *, over: bool, ended: bool) -> tuple[str, list[str]]:
        """What the runs are doing, in a line, and further lines."""
        missing = sum(run.missing for run in self.runs)
        folders = ", ".join(str(run.path) for run in self.runs)
        written = not over if self._is_written is None else any(self._is_written(run.path) for run in self.runs)
        if not any(run.planned for run in self.runs):
            return ("The run did not begin." if over else "The run has not begun."), [folders]
        if written:
            return "The run is under way.", [folders]
        if missing and not ended:
            return "The run is being read.", [folders]
        if missing:
            lacking = f"{missing:,} conversation{' is' if missing == 1 else 's are'} missing"
            return f"The run was stopped: {lacking}.", [f"its command with --resume continues: {folders}"]
        return "The run has ended.", [f"duologue show {run.path}" for run in self.runs]

    def _address(self, run: RunGrowth, name: str) -> str:
        return f"conversation?run={self.runs.index(run)}&id={quote(name, safe='', errors='replace')}"


class LiveServer(ThreadingHTTPServer):
    """Serves a page at the first free port of this machine, or at one; SettingError without a free port."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, page: LivePage, token: str, port: int | None = None) -> None:
        self.page, self.key = page, DoorKey(token)
        self.answering, self._counting = 0, Lock()
        for candidate in range(FIRST_PORT, FIRST_PORT + PORTS) if port is None else (port,):
            try:
                super().__init__((HERE, candidate), _Request)
                return
            except OSError:
                continue
        raise SettingError("no port is free")

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"http://{HERE}:{self.server_address[1]}/?token={self.key.token}"

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a request, in a thread of its own."""
        with self._counting:
            self.answering += 1
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._counting:
                self.answering -= 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: a browser may go at any time."""


class _Request(BaseHTTPRequestHandler):
    """A request: one to read is answered if it has the token, everything else is refused."""

    server: LiveServer  # pyright: ignore[reportIncompatibleVariableOverride]
    timeout = PATIENCE
    server_version, sys_version = "duologue", ""

    def __getattr__(self, name: str) -> Any:
        """Every method but GET is answered alike: `http.server` asks for a function of its name."""
        if name.startswith("do_"):
            return lambda: self._send(405, "This page can only be read.", "text/plain", {"allow": "GET"})
        raise AttributeError(name)

    def do_GET(self) -> None:
        """Answer a request to read."""
        parts, key, page = urlsplit(self.path), self.server.key, self.server.page
        headers = {name.lower(): value for name, value in self.headers.items()}
        if refusal := key.refusal(parts.path, parts.query, headers):
            self._send(refusal[0], refusal[1], "text/plain")
        elif parts.path == "/":
            self._send(200, key.opening, "text/html", {"set-cookie": key.cookie})
        else:
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            try:
                answer = _answer(parts.path.removeprefix(key.path), query, page)
            except Exception as error:  # whatever is in a folder, the next request is answered
                answer = 500, f"The run folder cannot be read just now: {error}", "text/plain"
            self._send(*answer)

    def _send(self, status: int, text: str, kind: str, more: Mapping[str, str] | None = None) -> None:
        content = text.encode("utf-8", "replace")
        self.send_response(status)
        fixed = {
            "content-type": f"{kind}; charset=utf-8",
            "content-length": str(len(content)),
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
            "content-security-policy": POLICY,
        }
        for name, value in (*fixed.items(), *HEADERS, *(more or {}).items()):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing: the terminal is the run's."""


def _answer(name: str, query: Mapping[str, str], page: LivePage) -> tuple[int, str, str]:
    """Status, content and kind of the answer to a request that is allowed."""
    html: str | None = None
    if name == "state":
        return 200, json.dumps(page.state(query.get("seen", ""))), "application/json"
    if name == "":
        html = page.page()
    elif name == WHOLE:
        html = page.final()
    elif name == "conversation":
        html = page.conversation(query.get("run", ""), query.get("id", ""))
    if html is None:
        return 404, "There is no such page here.", "text/plain"
    return 200, html, "text/html"
