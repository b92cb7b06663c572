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
"""The page is for this machine only: whoever opens it can read every conversation."""
FIRST_PORT = 8501


def serve(settings: str, port: int, line: str) -> None:
    """Serve the page of these settings until it is interrupted; `line` is printed once it has an address.

    SettingError if the server ends by itself.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "label.json")
        path.write_text(settings, encoding="utf-8")
        options = {
            "server.address": HERE,
            "server.port": port,
            "server.headless": "true",
            "server.fileWatcherType": "none",
            "browser.gatherUsageStats": "false",
            "client.toolbarMode": "minimal",
        }
        arguments = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        script = Path(folder, "page.py")  # Streamlit runs a file, and a file of a package would not know its package
        script.write_text(f"from duologue.labelling.app import page\npage({str(path)!r})\n", encoding="utf-8")
        command = [sys.executable, "-m", "duologue.labelling", "run", str(script), *arguments]
        put(f"http://{HERE}:{port}")
        say(line)
        before = signal.signal(signal.SIGTERM, _interrupted)
        watched, alive = os.pipe()
        server = subprocess.Popen(command, stdin=watched, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        os.close(watched)
        try:
            _, complaints = server.communicate()
        except KeyboardInterrupt:
            server.send_signal(signal.SIGINT)
            server.communicate()
            return
        finally:
            os.close(alive)
            signal.signal(signal.SIGTERM, before)
    if server.returncode:
        last = complaints.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason given"]
        raise SettingError(f"the page could not be served: {last[0]}")


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def free_port(port: int | None) -> int:
    """The port, or the first free one; SettingError if the one that was asked for is taken."""
    for candidate in [port] if port is not None else range(FIRST_PORT, FIRST_PORT + 200):
        with closing(socket.socket()) as tried:
            try:
                tried.bind((HERE, candidate))
            except OSError:
                continue
            return candidate
    raise SettingError(
        f"--port {port}: is taken: give another" if port is not None else "--port: none is free: give one"
    )
