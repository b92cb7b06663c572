"""A track's platform as a server of this machine, and what it is made of."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ...errors import SettingError, of_extra
from ...graphs import agent_test
from ...graphs.casts.cast import Cast
from ..chat_completions import RefusedRequestError
from ..endpoint import Entrance, content_of
from .organising import SAFE, TrackPlatform


def application(platform: TrackPlatform, token: str | None = None) -> Any:
    """The platform as an ASGI application; with a `token` it is what every request must have."""
    of_extra("starlette", "serve")
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route

    async def answered(request: Request) -> Response:
        try:
            content = await content_of(request.receive)
            body = json.loads(content) if content else None
        except RefusedRequestError as error:
            return JSONResponse(error.body, error.status)
        except (ValueError, RecursionError):
            return JSONResponse({"detail": "the body is not JSON"}, 422)
        answer = await platform.answer(request.method, request.url.path, dict(request.query_params), body)
        if isinstance(answer.body, str):
            return PlainTextResponse(answer.body, answer.status)
        return JSONResponse(dict(answer.body), answer.status)

    return Entrance(Starlette(routes=[Route("/{path:path}", answered, methods=["GET", "POST"])]), token)


def scenarios_of(source: str | Path, tell: Callable[[str], None], limit: int | None = None) -> list[dict[str, Any]]:
    """The scenarios of a file, as for `test`; `tell` gets a line for each note. DataError if there are none."""
    factory = agent_test.FACTORY
    scenarios = factory.source(scenarios=Path(source), limit=limit).read(factory.checked({}), 0)
    for note in scenarios.notes:
        tell(note)
    return [state["scenario"] for state in scenarios.states]


def agents_of(texts: Iterable[str]) -> dict[str, Cast]:
    """The casts of assistants by name, from `NAME=MODEL` or a model's identifier."""
    named: dict[str, Cast] = {}
    for text in texts:
        name, equals, spec = text.partition("=")
        if not equals or set(name) - set(SAFE):
            name = spec = text
        named[name.strip()] = agent_test.FACTORY(assistant=spec.strip())
    return named


def check_given(platform: TrackPlatform) -> None:
    """SettingError if the platform has neither task to give."""
    if not platform.places("task1") and not platform.places("task2"):
        raise SettingError("give scenarios and an assistant (task 2), or conversations of people (task 1)")
