"""Runs of notebooks without a key, a network or anything of the user's own."""

import copy
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
CLEARED = ("OPENAI_", "LANGSMITH_", "LANGCHAIN_", "IPYTHON", "JUPYTER_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
FOLDERS = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
OFFLINE = '''
"""Runs when the kernel starts: it reaches this machine and nothing else."""

import socket

_connect, _getaddrinfo = socket.socket.connect, socket.getaddrinfo
_HERE = ("127.0.0.1", "::1", "localhost")


def connect(self, address):
    if isinstance(address, tuple) and address[0] not in _HERE:
        raise OSError(f"offline: {address[0]} is another machine")
    return _connect(self, address)


def getaddrinfo(host, *args, **kwargs):
    if host not in (None, "", *_HERE):
        raise OSError(f"offline: {host} is another machine")
    return _getaddrinfo(host, *args, **kwargs)


socket.socket.connect, socket.getaddrinfo = connect, getaddrinfo
'''


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Inside, kernels start without key, endpoint, tracing or proxy, with folders of their own, and offline."""
    before = dict(os.environ)
    for name in before:
        if name.upper().startswith(CLEARED):
            del os.environ[name]
    for name in FOLDERS:
        (folder / name.lower()).mkdir()
        os.environ[name] = str(folder / name.lower())
    startup = folder / "ipythondir" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-offline.py").write_text(OFFLINE)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


async def executed(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """The notebook after a run in the folder, in a kernel of the interpreter that runs this."""
    ran = copy.deepcopy(notebook)
    interpreter = KernelSpecManager(kernel_dirs=[])
    with TemporaryDirectory() as pipes:  # a short path: the name of a Unix socket has at most 104 characters
        kernel = AsyncKernelManager(
            kernel_name="python3", kernel_spec_manager=interpreter, transport="ipc", ip=f"{pipes}/k"
        )
        client = NotebookClient(
            ran, km=kernel, timeout=900, coalesce_streams=True, resources={"metadata": {"path": str(folder)}}
        )
        await client.async_execute(cleanup_kc=True)
    return ran


def outputs(notebook: NotebookNode) -> list[tuple[str, NotebookNode]]:
    """Each output of its cells, with the id of the cell."""
    return [(cell.id, output) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
