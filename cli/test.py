"""`duologue test`: how often an agent succeeds with simulated users; `--from` and `--replay-user` take up stored ones."""

from pathlib import Path
from typing import Annotated, Any

from ..data.formats.record_lines import attempted
from ..errors import SettingError
from . import options
from .options import margin_of, option
from .printing import say
from .reports import Reports, give_result
from .running import HowToRun, again_in, carried_out, chosen, incomplete, new_run

Share = Annotated[float | None, option("Pass with this share of successes.", min=0, max=1, metavar="SHARE")]


def test_command(
    assistant: options.Assistant = None,
    scenarios: options.ScenariosFrom = None,
    user: options.User = None,
    judge: options.Judge = None,
    behaviour: options.Behaviour = None,
    threshold: Share = None,
    at_least: Annotated[
        float | None, option("... with this lower end of its 95 % interval.", min=0, max=1, metavar="SHARE")
    ] = None,
    against: Annotated[str | None, option("Compare in pairs with another agent or a run.", metavar="MODEL|RUN")] = None,
    common: Annotated[bool, option("Compare what both runs have.", "--common")] = False,
    fail_if_worse: Annotated[
        Any, option("Fail at a shown loss, or unless one is small.", parser=margin_of, metavar="shown|SHARE")
    ] = None,
    from_: Annotated[
        str | None, option("Take up --scenarios RUN at a message.", "--from", metavar="ID:MESSAGE")
    ] = None,
    replay_user: Annotated[bool, option("Replay --scenarios RUN with the agent.", "--replay-user")] = False,
    cast: options.CastName = None,
    world: options.World = None,
    approve: Annotated[str | None, option("Answer approvals: all, none, ask-user, ...", metavar="WHO")] = None,
    context: options.Context = None,
    max_turns: options.MaxTurns = None,
    settings: options.Settings = None,
    junit: Annotated[Path | None, option("Write JUnit XML to this file.", metavar="FILE")] = None,
    summary: Annotated[Path | None, option("Write Markdown to this file.", metavar="FILE")] = None,
    out: options.Out = None,
    limit: options.Limit = None,
    repeats: options.Repeats = 1,
    seed: options.Seed = None,  # type: ignore[assignment]
    concurrency: options.Concurrency = None,
    max_cost: options.MaxCost = None,
    max_tokens: options.MaxTokens = None,
    max_time: options.MaxTime = None,
    plan: options.Plan = False,
    as_json: options.Json = False,
    replies: options.KeptReplies = None,
    frozen: options.Frozen = False,
    shard: options.Shard = None,
    ray: options.RayAddress = None,
) -> int:
    """Measure how often an agent succeeds with simulated users.

    Exit code 0: every scored conversation succeeded, or what --threshold, --at-least and --fail-if-worse ask for holds; 1:
    it did not pass, or is not complete; 2: bad input.
    """
    given = locals()
    how = HowToRun.of(given)
    if scenarios is None:
        raise SettingError("--scenarios: give a file of JSON lines, one scenario each, or stored conversations")
    if from_ is not None or replay_user:
        from .retaken import taken_up

        return taken_up(given, how)
    from ..graphs import agent_test, casts
    from ..nodes.calls.store import AGAINST
    from ..runs.store import standing
    from ..studies.agent_tests import prepared

    factory = casts.find(cast or agent_test.NAME)
    reports = Reports(factory.name, None if plan else junit, None if plan else summary)
    reports.check(scenarios, against)
    of_cast = chosen(factory, settings, world=world, approve=approve, context=context, max_turns=max_turns)
    with how.keys(), reports.begun():
        if assistant is None and cast is None and "assistant" not in of_cast.settings:
            say("no agent was named, so the rule-based assistant 'offline' is tested: name yours with --assistant")
        folder = new_run(how, factory.name)
        one = prepared(
            assistant,
            scenarios,
            user=user,
            repeats=repeats,
            seed=seed or 0,
            cast=cast,
            judge=judge,
            behaviour=tuple(behaviour or ()),
            limit=limit,
            threshold=threshold,
            at_least=at_least,
            against=against,
            common=common,
            fail_if_worse=fail_if_worse,
            **of_cast.settings,
            **of_cast.source,
            **of_cast.limits,
        )
        again = "" if frozen else again_in(folder)
        result = carried_out(
            how,
            one.calls,
            lambda settings: one.run(settings, again, assistant or str(folder)),
            out=folder,
            casts=one.casts.values(),
        )
    old = None
    if one.old is not None:
        old = attempted(folder, version=AGAINST) if one.old.trial is not None else one.old.records()
    pages = reports.write(result, folder, one.trial.plan, old)
    give_result(result, folder, pages, as_json, cast=factory.name, repeats=repeats)
    say(*filter(None, [result.resume]))
    complete = 0 if result.resume else incomplete(standing(folder), "", folder)
    return 0 if result.passed else max(complete, 1)
