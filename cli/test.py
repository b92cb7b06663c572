"""`duologue test`: how often an agent succeeds with simulated users; `--from` and `--replay-user` take up stored ones."""

from pathlib import Path
from typing import Annotated, Any

from ..data.formats.record_lines import attempted
from ..errors import SettingError
from . import options
from .options import margin_of, option
from .printing import check_apart, print_json, put, say
from .reports import Reports, give_result
from .running import HowToRun, again_in, carried_out, how_to_run, incomplete, new_run, set_values

ARGUMENTS = (
    "user", "judge", "threshold", "at_least", "against", "fail_if_worse", "from_", "replay_user", "why",
    "labels", "cast", "max_turns",
)  # fmt: skip
"""Options that are arguments of `duologue.test` as they are."""
Share = Annotated[float | None, option("Pass with this share of successes.", min=0, max=1, metavar="SHARE")]


@how_to_run()
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
    fail_if_worse: Annotated[
        Any, option("Fail at a shown loss, or unless one is small.", parser=margin_of, metavar="shown|SHARE")
    ] = None,
    from_: Annotated[
        str | None, option("Take up --scenarios RUN at a message.", "--from", metavar="ID:MESSAGE")
    ] = None,
    replay_user: Annotated[bool, option("Replay --scenarios RUN with the agent.", "--replay-user")] = False,
    why: Annotated[bool, option("Find faults by repairs; needs plans.", "--why")] = False,
    labels: Annotated[Path | None, option("People's labels, for the judge.", metavar="FILE")] = None,
    cast: options.CastName = None,
    world: options.World = None,
    approve: Annotated[str | None, option("Answer approvals: all, none, ask-user, ...", metavar="WHO")] = None,
    context: options.Context = None,
    max_turns: options.MaxTurns = None,
    settings: options.Settings = None,
    junit: Annotated[Path | None, option("Write JUnit XML to this file.", metavar="FILE")] = None,
    summary: Annotated[Path | None, option("Write Markdown to this file.", metavar="FILE")] = None,
    *,
    how: HowToRun,
) -> int:
    """Measure how often an agent succeeds with simulated users.

    Exit code 0: every scored conversation succeeded, or what --threshold, --at-least and --fail-if-worse ask for holds; 1:
    it did not pass, or is not complete; 2: bad input.
    """
    given = locals()
    if scenarios is None:
        raise SettingError("--scenarios: give a file of JSON lines, one scenario each, or stored conversations")
    from ..graphs import agent_test
    from ..nodes.calls.store import AGAINST
    from ..runs.store import standing
    from ..studies.agent_tests import prepared

    is_retaken = from_ is not None or replay_user
    name = ("replay" if replay_user else "fork") if is_retaken else cast or agent_test.NAME
    reports = Reports(name, None if how.plan else junit, None if how.plan else summary)
    reports.check(scenarios, against)
    if is_retaken:
        check_apart(how.out, scenarios)
    options_of_cast = {
        option: value for option in ("world", "approve", "context") if (value := given[option]) is not None
    }

    def of_cast(*models: Any) -> dict[str, Any]:
        return set_values(settings or (), *models) | options_of_cast

    arguments = {option: given[option] for option in ARGUMENTS}
    arguments |= {option: getattr(how, option) for option in ("limit", "repeats", "seed")}
    with how.keys(), reports.begun():
        if assistant is None and cast is None and not is_retaken and "assistant" not in of_cast():
            say("no agent was named, so the rule-based assistant 'offline' is tested: name yours with --assistant")
        folder = new_run(how, name)
        behaviours = tuple(behaviour or ())
        one = prepared(assistant, scenarios, behaviour=behaviours, settings=of_cast, **arguments)
        again = "" if how.frozen else again_in(folder)
        result = carried_out(
            how,
            one.calls,
            lambda run_settings: one.run(run_settings, again, assistant or str(folder)),
            out=folder,
            casts=one.casts.values(),
        )
    state = standing(folder)
    if is_retaken and not result.scored:  # such as a fork of people's conversation
        if how.as_json:
            print_json({"out": str(folder), **result.model_dump(mode="json")})
        else:
            put(*result.notes, f"run: {folder}")
        return incomplete(state, "", folder)
    old = None
    if one.old is not None:
        old = attempted(folder, version=AGAINST) if one.old.trial is not None else one.old.records()
    pages = reports.write(result, folder, one.trial.plan, old)
    give_result(result, folder, pages, how.as_json, cast=name, repeats=how.repeats)
    say(*filter(None, [result.resume]))
    complete = 0 if result.resume else incomplete(state, "", folder)
    return 0 if result.passed else max(complete, 1)
