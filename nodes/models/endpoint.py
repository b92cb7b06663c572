"""`openai:` models: what the endpoint answers is judged before it is taken for a message. Imported when a model is made."""

import asyncio
from json import JSONDecodeError
from typing import Any

from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI

from ..calls.faults import Fault, ReplyError, fault
from ..flaws import ODD
from .clients import Seen, endpoint_client, seen, sync_endpoint_client

_CHOKED = (TypeError, ValueError, KeyError, AttributeError, IndexError)
"""What the packages raise where a reply has another form than they read."""


class EndpointModel(ChatOpenAI):
    """`ChatOpenAI` for endpoints that may answer anything: ReplyError says what is wrong with a reply.

    Each call is made once. `timeout` holds for the whole reply, from the first byte that is sent to the last that comes.
    """

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        noted = Seen()
        token = seen.set(noted)
        try:
            async with asyncio.timeout(self.deadline):
                result = await super()._agenerate(*args, **kwargs)
        except TimeoutError:
            raise ReplyError(self._late(noted)) from None
        except _CHOKED as error:
            if (choked := _choked(error)) is None:
                raise
            raise choked from error
        finally:
            seen.reset(token)
        return _marked(result, noted)

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        noted = Seen()
        token = seen.set(noted)
        try:
            result = super()._generate(*args, **kwargs)
        except _CHOKED as error:
            if (choked := _choked(error)) is None:
                raise
            raise choked from error
        finally:
            seen.reset(token)
        return _marked(result, noted)

    @property
    def deadline(self) -> float | None:
        """Seconds within which a reply must be complete; None if there is no bound."""
        given = self.request_timeout
        return float(given) if isinstance(given, (int, float)) else None

    def _late(self, noted: Seen) -> Fault:
        within = f"timed out after {self.deadline:g} seconds" if self.deadline is not None else "timed out"
        if noted.head:
            return fault("too_slow", f"{within}, in the middle of its reply")
        return fault("timeout", f"{within}, before its reply")

    @classmethod
    def of(cls, **arguments: Any) -> "EndpointModel":
        """A model whose calls go through the clients that bound and judge replies."""
        return cls(
            max_retries=0,
            http_async_client=endpoint_client(),
            http_client=sync_endpoint_client(),
            http_socket_options=(),  # the clients have their own
            **arguments,
        )


def _choked(error: Exception) -> ReplyError | None:
    """What to raise for an error of a package that choked on a reply; None for any other error."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is None or isinstance(error, JSONDecodeError):
        return None
    return ReplyError(fault("not_a_completion", f"{type(error).__name__}: {error}"))


def _marked(result: ChatResult, noted: Seen) -> ChatResult:
    if noted.usage_left_out:
        for generation in result.generations:
            generation.message.response_metadata[ODD] = True
    return result
