"""`duologue test`: how often an agent succeeds with simulated users."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...data.people import UserPart
from ...data.text.languages import Language
from ...errors import SettingError
from ..options.cast_settings import setting
from ..options.limits import LIMITS
from ..options.model_fields import extended
from ..options.sections import CAST, OUTPUT, SCENARIOS
from ..options.sections import LIMITS as LIMITS_SECTION
from ..options.shared import (
    Behaviour,
    JudgeOption,
    Prompts,
    Repeats,
    SettingsOption,
    assistant_by,
    cast_argument,
    cast_named,
    language_of,
    limit_to,
    option,
    part_of,
    scenarios_from,
    seed_of,
    user_by,
)
from ..output.overwriting import check_unread
from ..running.run import OUT, limits_with
from ..simulate import RUN, run_options, surrounded
from ..streams import say, skips_broken
from .against import AGAINST
from .agent_test_run import AgentTestRun
from .job_summary import check_summary
from .pair_reports import compared_results
from .report_files import ReportFiles

if TYPE_CHECKING:
    from ...studies.agent_trials import AgentTest
    from ...studies.testing.origin import TestOrigin


SEED = {"seed": (Annotated[int | None, seed_of("the run. Default: 0, or that of RUN", LIMITS_SECTION)], None)}
"""In place of the seed among the limits, so that one that is left out is that of `--rerun-failed RUN`."""


@extended({**AGAINST, **LIMITS, **SEED, **RUN})
@surrounded
def test_command(
    name: Annotated[
        str | None, cast_argument(". Default: agent_test, a user with a goal and facts and your agent.", "[CAST]")
    ] = None,
    assistant: Annotated[
        str | None,
        assistant_by(
            "the agent under test, such as MODULE:NAME, agent:URL or openai:NAME; the cast's setting `assistant`."
        ),
    ] = None,
    user: Annotated[str | None, user_by("openai:NAME, offline or others; the cast's setting `user`.")] = None,
    scenarios: Annotated[
        Path | None,
        scenarios_from(
            "JSON lines, an object for each scenario: a 'kind', or a 'goal' and 'facts'; 'success' defines success. "
            "Or stored conversations, one scenario of each: a run folder, logs of yours, a data set."
        ),
    ] = None,
    rerun_failed: Annotated[
        Path | None,
        option(
            "Simulate only the failed conversations of this run folder again, with its scenarios, seeds, cast and "
            "limits "
            "unless options override them.",
            section=SCENARIOS,
            metavar="RUN",
        ),
    ] = None,
    judge: JudgeOption = None,
    behaviour: Behaviour = None,
    repeats: Repeats = 1,
    threshold: Annotated[
        float | None,
        option(
            "Exit with code 1 if the share of successes is lower. Default: every scored conversation has to succeed.",
            min=0,
            max=1,
            metavar="SHARE",
        ),
    ] = None,
    at_least: Annotated[
        float | None,
        option(
            "Exit with code 1 if the lower end of the share's 95 % interval is lower.",
            section=OUTPUT,
            min=0,
            max=1,
            metavar="SHARE",
        ),
    ] = None,
    part: Annotated[UserPart, part_of("of the scenarios", section=SCENARIOS)] = "all",
    limit: Annotated[int | None, limit_to("scenarios", section=SCENARIOS)] = None,
    cast: Annotated[str | None, cast_named(" in place of the argument.", section=CAST)] = None,
    world: Annotated[
        str | None,
        option(
            "Make a world for each conversation, which the agent's tools work on; the cast's setting `world`.",
            section=CAST,
            metavar="MODULE:NAME",
        ),
    ] = None,
    approve: Annotated[
        str | None,
        option(
            "Answer an agent that stops for an approval; the cast's setting `approve`. Default: the conversation ends.",
            section=CAST,
            metavar="all|none|ask-user|MODULE:NAME",
        ),
    ] = None,
    context: Annotated[
        str | None,
        option(
            "Call the agent's graph with this context, a value or your function of scenario and world; the cast's "
            "setting `context`.",
            section=CAST,
            metavar="MODULE:NAME",
        ),
    ] = None,
    language: Annotated[
        Language | None,
        language_of("the user's prompts. Default: that of the goals, or en.", section=CAST),
    ] = None,
    prompts: Prompts = None,
    settings: SettingsOption = None,
    junit: Annotated[
        Path | None,
        option("Write JUnit XML to this file, a test case for each conversation.", section=OUTPUT, metavar="FILE"),
    ] = None,
    summary_file: Annotated[
        Path | None,
        option(
            "Write the result as Markdown to this file, for a CI job's page; it is appended to $GITHUB_STEP_SUMMARY.",
            "--summary",
            metavar="FILE",
            section=OUTPUT,
        ),
    ] = None,
    with_page: Annotated[
        bool,
        option("Write the run's HTML page, page.html in its folder.", "--page/--no-page", section=OUTPUT),
    ] = True,
    **values: Any,
) -> int:
    """Measure how often an agent succeeds with simulated users.

    Exit code 0: it passed; 1: the share misses `--threshold` or `--at-least`, a conversation has no score or was not
    begun, or the agent answered no conversation to the end; 2: bad input. Without these two options, one conversation
    that the agent did not answer to the end is enough for exit code 1. A conversation has no score after a failure of
    an endpoint, or if it was cut short: it counts in no share.
    """
    from ... import runs
    from ...graphs import agent_test, casts
    from ...studies.paired_tests import old_version
    from ...studies.testing.origin import TestOrigin

    if name is not None and cast is not None:
        raise SettingError("give one cast: duologue test CAST --scenarios FILE (or --cast CAST)")
    out: Path | None = values["out"]
    against, results, common, fail_if_worse = (values[key] for key in AGAINST)
    options = run_options(values)
    check_unread(junit)
    check_summary(summary_file)
    taken = {"part": part, "limit": limit, "repeats": repeats, "judge": judge, "behaviour": tuple(behaviour or ())}
    origin = TestOrigin.of(
        rerun_failed,
        cast=cast or name,
        scenarios=scenarios,
        choice={**taken, "results": results},
        has_agent=assistant is not None,
        out=out,
    )
    factory = casts.find(origin.cast or agent_test.NAME)
    files = ReportFiles(factory.name, junit, summary_file)
    if against is None:
        for flag, value in (("--fail-if-worse", fail_if_worse), ("--common", common or None)):
            if value is not None:
                raise SettingError(f"{flag}: is an option of a comparison: give --against, the other version")
    if results is not None:
        without = {"--scenarios": scenarios, "--assistant": assistant, "--out": out}
        return compared_results(
            results,
            against,
            files,
            common=common,
            bounds={"threshold": threshold, "at_least": at_least, "margin": fail_if_worse},
            without=[option_name for option_name, value in without.items() if value is not None],
            with_page=with_page,
            as_json_text=options.as_json,
        )
    named = {
        "assistant": assistant,
        "user": user,
        "world": world,
        "approve": approve,
        "context": context,
        "language": language,
        "prompts": prompts,
    }
    named_settings = {key: value for key, value in named.items() if value is not None}
    with nullcontext() if options.plan else files.begun(out):
        chosen = dict(setting(text, factory.settings) for text in settings or ()) | named_settings
        chosen = {**origin.settings, **chosen}
        chosen_limits = origin.limits_with({key: values[key] for key in LIMITS})
        taken = {**taken, "seed": chosen_limits["seed"]}
        trial = _trial(origin, chosen, taken)
        say(*origin.notes(one.id for one in trial.plan))
        folder = out or runs.new_folder(OUT, factory.name.rpartition(":")[2])
        limits = limits_with(trial.cast, chosen_limits)
        old = None
        if against is not None:

            def test_of(version: Any) -> "AgentTest":
                return _trial(origin, {**chosen, "assistant": version}, taken)

            old = old_version(against, trial, limits, test_of, common=common)
        test_run = AgentTestRun(
            trial=trial,
            files=files,
            folder=folder,
            limits=limits,
            options=options,
            repeats=repeats,
            bounds={"threshold": threshold, "at_least": at_least},
            with_page=with_page,
            origin=origin,
            old=old,
            name=assistant or str(folder),
            margin=fail_if_worse,
        )
        return test_run.simulated()


def _trial(origin: "TestOrigin", settings: dict[str, Any], options: dict[str, Any]) -> "AgentTest":
    """The test, with its notes printed; SettingError if there is no source of scenarios."""
    from ...graphs import agent_test
    from ...studies.agent_trials import AgentTest

    if origin.scenarios is None:
        raise SettingError("--scenarios: give a file of JSON lines, one scenario each, or stored conversations")
    trial = AgentTest.of(
        None, origin.scenarios, cast=origin.cast, settings=settings, notify=say, skip_broken=skips_broken(), **options
    )
    trial = replace(trial, cast=origin.with_parts(trial.cast))
    if trial.name == agent_test.NAME and "assistant" not in settings:
        say(
            "no agent was named, so the rule-based assistant 'offline' is tested: name yours with --assistant "
            "MODULE:NAME"
        )
    trial.check(say)
    return trial
