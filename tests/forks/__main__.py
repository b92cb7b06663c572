"""Runs commands of `duologue`, pytest and other code, each in a fork of this process, in which everything is imported.

A fork is a process of its own: it can be killed, its memory is bounded, and what it leaves in memory is gone; but it
starts in milliseconds. `python -m tests.forks`, from the repository's root, reads a line of JSON for each command from its
standard input and prints a line when it is started, and one when it is over. It ends, with its forks, when its input does.
"""

import gc
import json
import os
import resource
import select
import signal
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

MODULES = (
    *("duologue.cli.commands", "duologue.runs", "duologue.graphs", "duologue.data", "duologue.nodes.models.offline"),
    *("duologue.views", "duologue.graphs.simquac", "duologue.graphs.recllmsim", "langchain_openai", "openai", "pysbd"),
    *("pytest", "pytest_asyncio"),
)
"""Imported before the first fork."""
EXTRAS = (
    *("bs4", "mammoth", "openpyxl", "numpy", "scipy.stats", "pandas", "sklearn", "jieba", "matplotlib.pyplot"),
    *("duologue.analysis", "duologue.analysis.realism", "duologue.analysis.simquac", "duologue.analysis.recllmsim"),
)
"""Imported too with `--all`, as is the whole package; one that is not installed is left out."""


def package_modules() -> list[str]:
    """All modules but those of the labelling page, whose server is no command's."""
    return [
        name
        for _, name, _ in walk_packages(import_module("duologue").__path__, "duologue.")
        if not name.startswith("duologue.labelling") and not name.endswith("__main__")
    ]


def prepare(everything: bool) -> None:
    """Import what commands import, so that a fork has nothing left to load."""
    gc.disable()  # what is imported stays
    for name in (*MODULES, *EXTRAS, *package_modules()) if everything else MODULES:
        try:
            import_module(name)
        except ImportError:
            continue
    gc.collect()
    gc.freeze()  # what no fork looks through again is not copied into it
    gc.enable()


def writes(flags: object, mode: object) -> bool:
    """Whether a file is opened so that it changes."""
    if isinstance(mode, str) and any(letter in mode for letter in "wax+"):
        return True
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND))


def watched(folder: Path, output: int) -> None:
    """From now on, tell of each change outside the folder, with one line on this descriptor."""
    allowed, devices = os.path.realpath(folder), ("/dev/", "/proc/self/", f"/proc/{os.getpid()}/")

    def check(path: object, event: str) -> None:
        if isinstance(path, int) or path is None:
            return
        full = os.path.realpath(os.fsdecode(path))
        if not (full == allowed or full.startswith(allowed + os.sep) or full.startswith(devices)):
            os.write(output, f"{event} {full!r}\n".encode(errors="backslashreplace"))

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if writes(arguments[2], arguments[1]):
                check(arguments[0], event)
        elif event in ("os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "os.chown", "os.utime"):
            check(arguments[0], event)
        elif event in ("os.rename", "os.link", "os.symlink"):
            check(arguments[1], event)
            if event == "os.rename":
                check(arguments[0], event)
        elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"):
            os.write(output, f"{event} {arguments[0]!r}\n".encode(errors="backslashreplace"))

    sys.addaudithook(hook)


def memory() -> int:
    """Bytes of address space that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def main_of(arguments: list[str]) -> None:
    """Do what `python -m duologue.cli ARGUMENTS` does, or `python -m pytest ...` and `python -c ...` where these begin so."""
    if arguments[:1] == ["-c"]:
        _, code, *rest = arguments
        main = sys.modules["__main__"] = ModuleType("__main__")
        sys.argv = ["-c", *rest]
        exec(compile(code, "<string>", "exec"), main.__dict__)
    elif arguments[:2] == ["-m", "pytest"]:
        import pytest

        sys.argv = arguments[1:]
        sys.path[0] = str(Path.cwd())
        sys.exit(pytest.console_main())
    else:
        from duologue.cli import main as command

        sys.argv = ["duologue", *arguments]
        command()


def child(order: dict[str, Any]) -> None:
    """Run the command of an order; never returns."""
    os.setsid()
    for number, name in ((1, "stdout"), (2, "stderr")):
        target = os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(target, number)
        os.close(target)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for name in list(os.environ):
        if name not in ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "HOME"):
            del os.environ[name]
    os.environ.update({"LANGSMITH_TRACING": "false"} | order.get("environment", {}))
    os.chdir(order["cwd"])
    sys.path[0] = ""
    arguments = [os.fsdecode(text.encode("utf-8", "surrogateescape")) for text in order["arguments"]]
    sys.dont_write_bytecode = True
    if within := order.get("within"):
        output = os.open(order["outside"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        watched(Path(within), output)
    if most := order.get("memory"):
        limit = memory() + int(most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    if seconds := order.get("seconds"):
        whole = max(1, int(seconds))
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 5))
        signal.setitimer(signal.ITIMER_REAL, 6 * seconds)  # for what waits; a busy machine slows what works, too
    if most := order.get("file"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), int(most)))
    code = 1
    try:
        main_of(arguments)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 99
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def serve() -> None:
    """Take orders until there are no more, and tell of each when it begins and ends."""
    replies = os.dup(1)
    os.dup2(2, 1)
    running: dict[int, Any] = {}
    waiting = b""

    def tell(**told: Any) -> None:
        os.write(replies, (json.dumps(told) + "\n").encode())

    while True:
        ready, _, _ = select.select([0], [], [], 0.005 if running else None)
        if ready:
            data = os.read(0, 1 << 20)
            if not data:
                break
            *lines, waiting = (waiting + data).split(b"\n")
            for line in lines:
                order = json.loads(line)
                pid = os.fork()
                if pid == 0:
                    child(order)
                running[pid] = order["id"]
                tell(id=order["id"], pid=pid)
        while running:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if not pid:
                break
            code = os.waitstatus_to_exitcode(status)
            tell(id=running.pop(pid), code=code, kilobytes=used.ru_maxrss, worked=used.ru_utime + used.ru_stime)
    for pid in running:
        os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    prepare("--all" in sys.argv)
    os.write(1, b'{"ready": true}\n')
    serve()
    os._exit(0)
