"""The server of `duologue label`'s page: started by the command, and ended with it, also if it is killed."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from ...errors import SettingError
from ..streams import put, say

HERE = "127.0.0.1"
FIRST_PORT = 8501
PORTS = 200
"""Ports that are tried, from the first one on."""


def serve(settings: str, port: int | None, line: str) -> None:
    """Serve the page of these settings until it is interrupted.

    Without a `port` it is the first free one. Its address, which holds a token, and `line` are printed once it can be
    opened. SettingError if the server ends by itself.
    """
    with TemporaryDirectory() as name:  # which other users of the machine cannot enter
        folder = Path(name).resolve()
        path = folder / "label.json"
        path.write_text(settings, encoding="utf-8")
        script = folder / "page.py"  # Streamlit runs a file, and a file of a package would not know its package
        script.write_text(f"from duologue.labelling.app import page\npage({str(path)!r})\n", encoding="utf-8")
        # `-P`: a module of the working folder is nothing to a server of ours, whatever its name.
        command = [sys.executable, "-P", "-m", "duologue.labelling", str(folder), str(port or free_port(None))]
        command.append("1" if port is not None else str(PORTS))
        before = signal.signal(signal.SIGTERM, _interrupted)
        watched, alive = os.pipe()
        with (folder / "errors.txt").open("wb") as errors:
            server = subprocess.Popen(command, stdin=watched, stdout=subprocess.PIPE, stderr=errors)
        os.close(watched)
        try:
            assert server.stdout is not None
            if address := server.stdout.readline().decode().strip():
                put(address)
                say(line)
            server.communicate()
        except KeyboardInterrupt:
            server.send_signal(signal.SIGINT)
            server.communicate()
            return
        finally:
            os.close(alive)
            signal.signal(signal.SIGTERM, before)
        complaints = (folder / "errors.txt").read_text(encoding="utf-8", errors="replace")
    if server.returncode:
        last = complaints.strip().splitlines()[-1:] or ["no reason given"]
        raise SettingError(f"the page could not be served: {last[0]}")


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def free_port(port: int | None) -> int:
    """The port, or the first free one; SettingError if the one that was asked for is taken."""
    for candidate in [port] if port is not None else range(FIRST_PORT, FIRST_PORT + PORTS):
        with closing(socket.socket()) as tried:
            try:
                tried.bind((HERE, candidate))
            except OSError:
                continue
            return candidate
    raise SettingError(
        f"--port {port}: is taken: give another" if port is not None else "--port: none is free: give one"
    )
