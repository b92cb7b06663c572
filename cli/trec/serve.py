"""`duologue trec serve`: the platform of a user simulation track, for those who give one."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

from ...errors import of_extra
from ..hosts.serving import ServerToken, opened_at, port_from, token_in
from ..options.shared import MODELS, assistant_by, limit_to, option, out_to, scenarios_from
from ..options.tracing import Trace, TrustEnvFile, leaving
from ..output.overwriting import check_apart
from ..output.sources import say_notes
from ..output.tables import read_source
from ..streams import flush, put, say

FIRST_PORT = 8901


def serve_command(
    out: Annotated[Path, out_to("this folder: a file for each run of a team. A later server continues them.")],
    scenarios: Annotated[
        Path | None, scenarios_from("JSON lines, an object each, or scenarios of the track. They are task 2.")
    ] = None,
    assistant: Annotated[
        list[str] | None,
        assistant_by(f"{MODELS}. May be repeated: each plays every scenario. Default: offline.", "NAME=MODEL"),
    ] = None,
    histories: Annotated[
        Path | None,
        option("Ask for each message but the first of these conversations: task 1.", "--histories", metavar="SRC"),
    ] = None,
    budget: Annotated[
        int, option("Set the maximum number of messages that a user sends in a conversation.", "--budget", min=1)
    ] = 10,
    limit: Annotated[int | None, limit_to("scenarios")] = None,
    token: ServerToken = None,
    port: Annotated[int | None, port_from(FIRST_PORT, "the platform")] = None,
    trace: Trace = False,
    trust_env_file: TrustEnvFile = False,
) -> int:
    """Serve a user simulation track to teams.

    Follows the protocol of TREC's track. The server answers this machine only, until Ctrl-C.
    """
    from ...hosts.endpoint import serve
    from ...hosts.trec.organising import TrackPlatform
    from ...hosts.trec.serving import agents_of, application, check_given, scenarios_of

    for package in ("starlette", "uvicorn"):
        of_extra(package, "serve")
    check_apart(out, *(path for path in (scenarios, histories) if path is not None))
    with leaving(trace=trace, trust_env_file=trust_env_file):
        talks = None if histories is None else read_source(histories)
        if talks is not None:
            say_notes(talks)
        platform = TrackPlatform(
            out,
            [] if scenarios is None else scenarios_of(scenarios, say, limit),
            agents_of(assistant or ["offline"]),
            () if talks is None else talks.conversations,
            budget,
        )
        check_given(platform)
        app = application(platform, None if token is None else token_in(token))
        opened, address = opened_at(port, FIRST_PORT)
        put(address)
        say(f"task 1: {len(platform.places('task1'))} histories; task 2: {len(platform.places('task2'))} conversations")
        flush()
        with suppress(KeyboardInterrupt):
            serve(app, opened)
    return 0
