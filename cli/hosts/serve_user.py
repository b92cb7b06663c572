"""`duologue serve-user`: a simulated user behind an OpenAI-compatible endpoint of this machine."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from ...data import domains
from ...data.text.languages import Language
from ...errors import SettingError, of_extra
from ..options.cast_settings import setting
from ..options.limits import LIMITS
from ..options.model_fields import extended
from ..options.run import RunOptions, options_of_run
from ..options.sections import CAST
from ..options.shared import (
    Behaviour,
    Prompts,
    SettingsOption,
    cast_argument,
    language_of,
    limit_to,
    option,
    scenarios_from,
    user_by,
)
from ..running.asking import bounded
from ..running.run import limits_with
from ..streams import flush, put, say
from .serving import ServerToken, opened_at, port_from, token_in

FIRST_PORT = 8801
LISTED = 20
"""Models that are printed."""
ASKED_LIMITS = {name: LIMITS[name] for name in ("seed", "max_turns", "question_attempts")}
OF_RUN = {name: of_option for name, of_option in options_of_run().items() if name != "plan"}
"""Only the harness knows how many calls there will be."""


@extended(ASKED_LIMITS | OF_RUN)
def serve_user_command(
    name: Annotated[str | None, cast_argument(". Default: agent_test, a user with a goal and facts.", "[CAST]")] = None,
    scenarios: Annotated[
        Path | None,
        scenarios_from("JSON lines, an object each, or stored conversations. Each is a model of the endpoint."),
    ] = None,
    goal: Annotated[
        str | None, option("Serve one user with this goal, in place of --scenarios.", metavar="TEXT")
    ] = None,
    fact: Annotated[
        list[str] | None,
        option("Give the user of --goal this answer to a question; may be repeated.", metavar="TEXT"),
    ] = None,
    user: Annotated[str | None, user_by("openai:NAME, offline or others; the cast's setting `user`.")] = None,
    behaviour: Behaviour = None,
    limit: Annotated[int | None, limit_to("scenarios")] = None,
    token: ServerToken = None,
    port: Annotated[int | None, port_from(FIRST_PORT, "the users")] = None,
    language: Annotated[
        Language | None, language_of("the user's prompts. Default: that of the goals, or en.", section=CAST)
    ] = None,
    prompts: Prompts = None,
    settings: SettingsOption = None,
    **values: Any,
) -> int:
    """Serve simulated users to your harness as models.

    The endpoint is OpenAI-compatible, of this machine only, and answers until Ctrl-C. Your assistant's messages come in,
    and the user's next message is the completion. Its `finish_reason` is the
    reason for which the user ended the conversation.
    """
    from ...graphs import agent_test, casts
    from ...hosts.endpoint import application, serve
    from ...hosts.users import User
    from ...studies.agent_trials import given_scenarios

    for package in ("starlette", "uvicorn"):
        of_extra(package, "serve")
    if (fact and goal is None) or (goal is not None and scenarios is not None):
        raise SettingError("--goal: give it with its facts, or --scenarios in their place")
    limits = {limit_name: values.pop(limit_name) for limit_name in ASKED_LIMITS}
    options = RunOptions(**values)
    with options.surroundings():
        factory = casts.find(name or agent_test.NAME)
        named = {"user": user, "language": language, "prompts": prompts}
        chosen = dict(setting(text, factory.settings) for text in settings or ())
        chosen |= {key: value for key, value in named.items() if value is not None}
        planned = given_scenarios(
            factory.source,
            factory.checked(chosen),
            scenarios if goal is None else [{"goal": goal, **({"facts": fact} if fact else {})}],
            say,
            limit=limit,
            behaviour=tuple(behaviour or ()),
            seed=limits["seed"],
        )
        cast = factory(**{**planned.settings, **chosen})
        bounds = bounded(options, [cast])
        spending = bounds.calls().spending
        cast_limits = limits_with(cast, limits)
        short = factory.name.rpartition(":")[2]
        names = [short if len(planned) == 1 else f"{short}-{number}" for number in range(1, len(planned) + 1)]
        users = {
            model: lambda seed, state=state: User(cast, state, replace(cast_limits, seed=seed), bounds)
            for model, state in zip(names, planned.states, strict=True)
        }
        app = application(users, seed=limits["seed"], token=None if token is None else token_in(token))
        opened, address = opened_at(port, FIRST_PORT)
        put(f"{address}/v1")
        for model, state in zip(names[:LISTED], planned.states, strict=False):
            say(f"model {model}: {domains.of(state['scenario']).title(state['scenario'])}")
        if len(names) > LISTED:
            say(f"... and {len(names) - LISTED} more models, up to {names[-1]}")
        flush()
        with suppress(KeyboardInterrupt):
            serve(app, opened, options.max_time)
        say(*spending.notes, *filter(None, [bounds.calls().ending]))
    return 0
