"""`duologue serve-user`: a simulated user behind an OpenAI-compatible endpoint of this machine."""

from contextlib import suppress
from dataclasses import replace
from typing import Annotated

from ..data import domains
from ..errors import SettingError, of_extra
from . import options
from .options import option
from .printing import flush, put, say, say_in_log
from .running import HowToRun, chosen, how_to_run, say_where
from .serving import HERE, listening, token_in

FIRST_PORT = 8801
LISTED = 20
"""Models that are printed."""


@how_to_run("out", "repeats", "plan", "as_json", "shard", "ray")
def serve_user_command(
    scenarios: options.ScenariosFrom = None,
    goal: Annotated[str | None, option("Serve one user with this goal.", metavar="TEXT")] = None,
    fact: Annotated[list[str] | None, option("... who knows this; may be repeated.", metavar="TEXT")] = None,
    user: options.User = None,
    behaviour: options.Behaviour = None,
    cast: options.CastName = None,
    max_turns: options.MaxTurns = None,
    settings: options.Settings = None,
    token: options.Token = None,
    port: options.Port = None,
    *,
    how: HowToRun,
) -> int:
    """Serve simulated users to your harness as models.

    The endpoint is OpenAI-compatible, of this machine only, and answers until Ctrl-C; each scenario is a model. Your
    assistant's messages come in, and the user's next message is the completion. Its `finish_reason` is the reason for
    which the user ended the conversation.
    """
    from ..graphs import agent_test, casts
    from ..hosts.endpoint import application, serve
    from ..hosts.users import User as ServedUser
    from ..nodes.calls.spending import asked_model
    from ..runs.plan import models_of_cast
    from ..studies.agent_trials import given_scenarios

    for package in ("starlette", "uvicorn"):
        of_extra(package, "serve")
    if (fact and goal is None) or (goal is not None and scenarios is not None):
        raise SettingError("--goal: give it with its facts, or --scenarios in their place")
    with how.keys():
        factory = casts.find(cast or agent_test.NAME)
        of_cast, of_source, of_limits = chosen(factory, settings, user=user, max_turns=max_turns)
        given = scenarios if goal is None else [{"goal": goal, **({"facts": fact} if fact else {})}]
        planned = given_scenarios(
            factory.source,
            factory.checked(of_cast),
            given,
            **{**of_source, "limit": how.limit, "behaviour": tuple(behaviour or ()), "seed": how.seed or 0},
        )
        made = factory(**{**planned.settings, **of_cast})
        bounds = how.settings(progress=False).shared(say_in_log)
        calls, models = bounds.calls(), models_of_cast(made)
        calls.spending.refuse_unknown([query for model in models if (query := asked_model(model)) is not None])
        say_where(how, models, [made])
        limits = replace(made.limits, **of_limits)
        short = factory.name.rpartition(":")[2]
        names = [short if len(planned) == 1 else f"{short}-{number}" for number in range(1, len(planned) + 1)]
        users = {
            model: lambda own_seed, state=state: ServedUser(made, state, replace(limits, seed=own_seed), bounds)
            for model, state in zip(names, planned.states, strict=True)
        }
        app = application(users, seed=how.seed or 0, token=None if token is None else token_in(token))
        opened = listening(port, FIRST_PORT)
        put(f"http://{HERE}:{opened.getsockname()[1]}/v1")
        for model, state in zip(names[:LISTED], planned.states, strict=False):
            say(f"model {model}: {domains.of(state['scenario']).title(state['scenario'])}")
        if len(names) > LISTED:
            say(f"... and {len(names) - LISTED} more models, up to {names[-1]}")
        flush()
        with suppress(KeyboardInterrupt):
            serve(app, opened, how.max_time)
        say(*calls.spending.notes, *filter(None, [calls.ending]))
    return 0
