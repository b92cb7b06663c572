"""`duologue test`: how often an agent succeeds with simulated users."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..data.formats.detection import MANIFEST
from ..data.formats.record_lines import attempted
from ..data.people.splits import UserPart
from ..data.text.languages import Language
from ..errors import SettingError
from .options.cast_settings import setting
from .options.limits import LIMITS
from .options.model_fields import extended
from .options.sections import CAST, OUTPUT, SCENARIOS
from .options.shared import (
    JudgeOption,
    Like,
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
    user_by,
)
from .output.job_summary import check_summary
from .output.overwriting import check_unread
from .output.report_files import ReportFiles
from .output.success_report import as_json, report
from .running.interrupts import INTERRUPTED, STOPPED, exit_code, signal_name
from .running.run import OUT, again_in, cut_by, end_in_words, ended, limits_with, plan_run, run_into
from .simulate import RUN, run_options, surrounded
from .streams import failed, flush, print_json, put, restore_streams, say

if TYPE_CHECKING:
    from ..analysis.testing.result import Successes
    from ..studies.agent_tests import AgentTest

MEND = "mend it, then run the same command with another --out"
"""What to do where a run is refused once the code that failed is another."""


@extended({**LIMITS, **RUN})
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
    judge: JudgeOption = None,
    repeats: Repeats = 1,
    threshold: Annotated[
        float | None,
        option(
            "Exit with code 1 if the share of successes is lower. It decides by the share, not by its interval.",
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
    like: Like = None,
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
    language: Annotated[
        Language | None,
        language_of("the user's prompts. Default: that of the goals, or en.", section=CAST),
    ] = None,
    prompts: Prompts = None,
    settings: SettingsOption = None,
    exclude_user_faults: Annotated[
        bool,
        option(
            "Leave out of the share the conversations in which the user simulator is at fault, by a rule that is printed.",
            "--exclude-user-faults",
            section=OUTPUT,
        ),
    ] = False,
    crash_is_failure: Annotated[
        bool,
        option(
            "Count a conversation in which the agent's own code crashes, or it answers nothing, as a failure.",
            "--crash-is-failure/--crash-is-unscored",
            section=OUTPUT,
        ),
    ] = True,
    junit: Annotated[
        Path | None,
        option("Write JUnit XML to this file, a test case for each conversation.", section=OUTPUT, metavar="FILE"),
    ] = None,
    summary_file: Annotated[
        Path | None,
        option(
            "Write the result as Markdown to this file, for a CI job's page; $GITHUB_STEP_SUMMARY is appended to.",
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

    Exit code 0: it passed; 1: the share misses `--threshold` or `--at-least`, a conversation has no score or was not begun,
    or the agent answered none to the end; 2: bad input. Without these two options one that the agent did not answer to the
    end exits with 1 too. A conversation has no score after a failure of an endpoint, or if it was cut short: it counts in
    no share.
    """
    from .. import runs
    from ..analysis.testing.result_text import blocking, headline, resuming
    from ..graphs import agent_test, casts

    if name is not None and cast is not None:
        raise SettingError("give one cast: duologue test CAST --scenarios FILE (or --cast CAST)")
    out: Path | None = values["out"]
    options = run_options(values)
    check_unread(junit)
    check_summary(summary_file)
    if options.resume and out is None:
        raise SettingError("--resume needs --out: name the run to continue")
    factory = casts.find(cast or name or agent_test.NAME)
    files = ReportFiles(factory.name, junit, summary_file, "failure" if crash_is_failure else "unscored")
    named = {
        "assistant": assistant,
        "user": user,
        "like": like,
        "world": world,
        "approve": approve,
        "language": language,
        "prompts": prompts,
    }
    named_settings = {key: value for key, value in named.items() if value is not None}
    with nullcontext() if options.plan else files.begun(out):
        chosen = dict(setting(text, factory.settings) for text in settings or ()) | named_settings
        taken = {"part": part, "limit": limit, "repeats": repeats, "judge": judge, "seed": values["seed"]}
        trial = _trial(cast or name, scenarios, chosen, taken)
        tested, planned = trial.cast, trial.scenarios
        folder = out or runs.new_folder(OUT, factory.name.rpartition(":")[2])
        limits = limits_with(tested, {key: values[key] for key in LIMITS})
        if options.plan:
            return plan_run(tested, list(planned.states), folder, limits, options)
        control = options.control()

        def result_of(**more: Any) -> "Successes":
            return trial.result(
                attempted(folder) if (folder / MANIFEST).is_file() else (),
                exclude_user_faults=exclude_user_faults,
                crashes=files.crashes,
                threshold=threshold,
                at_least=at_least,
                **more,
            )

        def put_result(result: "Successes", **more: Any) -> list[str]:
            page, unwritten = files.write(result, folder, trial.plan, with_page=with_page, **more)
            if options.as_json:
                about = {"out": str(folder), "page": page and str(page), "cast": factory.name, "repeats": repeats}
                print_json({**about, **as_json(result, page)})
                say(*headline(result.model_copy(update={"resume": "", "source_notes": ()})))
            else:
                report(result, page)
                put(f"run: {folder}")
                if page is not None:
                    put(f"page: {page}")
                say(f"duologue show {folder} --id ID writes a single conversation")
            return unwritten

        def put_last(line: str) -> None:
            restore_streams()
            blocked = blocking(control.blocked_at, signal_name(control) or "the end of --max-time")
            put_result(result_of(blocked=blocked).model_copy(update={"resume": line}), blocked=blocked)
            flush()

        summary = run_into(
            tested, list(planned.states), folder, limits, planned.source, options, control, last=put_last
        )
        cut = cut_by(summary, control)
        result = result_of(ending=cut)
        end, wider = end_in_words(summary, control)
        mend = MEND if trial.is_refused_once_mended(result) else ""
        again = resuming(result, again_in(folder) + wider, end, mend=mend) if options.replay_calls is None else ""
        try:
            unwritten = put_result(result := result.model_copy(update={"resume": again}), ending=cut)
        except KeyboardInterrupt:
            say(f"interrupted while the reports were written; continue: {again_in(folder)}")
            return INTERRUPTED
        say(*control.spending.notes)
        if again:
            say(again)
            code = exit_code(control) if control.ending == STOPPED else 1
        else:
            code = ended(summary, control, options)
        code = 0 if result.passed else max(code, 1)
        for line in unwritten:
            code = max(code, failed(f"{line}; then {again_in(folder)} writes it"))
        return code


def _trial(cast: str | None, scenarios: Path | None, settings: dict[str, Any], options: dict[str, Any]) -> "AgentTest":
    """The test, with its notes printed; SettingError if there is no source of scenarios."""
    from ..graphs import agent_test
    from ..studies.agent_tests import AgentTest

    if scenarios is None:
        raise SettingError(
            "--scenarios: give a file of JSON lines, an object for each scenario, or stored conversations"
        )
    trial = AgentTest.of(None, scenarios, cast=cast, settings=settings, notify=say, **options)
    if trial.name == agent_test.NAME and "assistant" not in settings:
        say(
            "no agent was named, so the rule-based assistant 'offline' is tested: name yours with --assistant MODULE:NAME"
        )
    trial.check(say)
    return trial
