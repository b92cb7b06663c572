"""`duologue test --from` and `--replay-user`: stored conversations taken up again, by the agent that made them or another."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.formats.record_lines import attempted
from ..data.formats.source import MANIFEST
from ..errors import SettingError
from .printing import check_apart, print_json, put, say
from .reports import Reports, give_result
from .running import HowToRun, carried_out, incomplete, new_run, set_values

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ..graphs.casts.rebuilding import Rebuilding
    from ..studies.forks import ForkPlan
    from ..studies.replays import ReplayPlan

NEEDLESS = ("judge", "behaviour", "against", "common", "approve", "context")
"""Options of a test that say nothing about stored conversations, which have all of it."""


def taken_up(given: Mapping[str, Any], how: HowToRun) -> int:
    """Take up the conversations of `--scenarios` with the options of `duologue test`; gives the exit code."""
    is_replay = given["replay_user"]
    flag = "--replay-user" if is_replay else "--from"
    if is_replay and given["from_"] is not None:
        raise SettingError("--from and --replay-user exclude each other: give one")
    if wrong := [name for name in NEEDLESS if given[name]]:
        raise SettingError(
            f"--{wrong[0]}: goes without {flag}, which takes what the stored conversations have: leave it out"
        )
    source: Path = given["scenarios"]
    reports = Reports(flag.removeprefix("--"), *(None if how.plan else given[name] for name in ("junit", "summary")))
    reports.check(source)
    check_apart(how.out, source)
    with how.keys(), reports.begun():
        plan = _replay_plan(source, given, how) if is_replay else _fork_plan(source, given)
        say(*plan.notes)
        folder = new_run(how, "replay" if is_replay else "fork")
        return _carried_out(plan, source, folder, given, how, reports)


def _carried_out(
    plan: "ForkPlan | ReplayPlan", source: Path, folder: Path, given: Mapping[str, Any], how: HowToRun, reports: Reports
) -> int:
    from ..analysis.outcomes import score_of
    from ..runs.plan import conversations_planned
    from ..runs.simulate import arun
    from ..runs.store import standing
    from ..studies.paired_tests import compared_runs
    from ..studies.replays import ReplayPlan

    casts = {"": plan.cast}
    run = carried_out(
        how,
        lambda settings: conversations_planned(casts, plan.scenarios, settings, plan.limits),
        lambda settings: arun(casts, plan.scenarios, settings, limits=plan.limits),
        out=folder,
        casts=[plan.cast],
    )
    bounds = {name: given[name] for name in ("threshold", "at_least")}
    about: dict[str, Any] = {}
    if isinstance(plan, ReplayPlan):
        replays = plan.result(run.attempted())
        about, lines = replays.model_dump(mode="json"), replays.lines()
    else:
        about, lines = plan.counts(run.attempted()), plan.success_lines(run.attempted())
    code = incomplete(standing(folder), run.ending, folder)
    if all(isinstance(score_of(one), str) for one in attempted(folder)):  # such as a fork of people's conversation
        if how.as_json:
            print_json({"out": str(folder), **about})
        else:
            put(*lines, f"run: {folder}")
        return code
    old = source if isinstance(plan, ReplayPlan) and (source / MANIFEST).is_file() else None
    result = compared_runs(folder, old, margin=given["fail_if_worse"], common=True, **bounds)
    pages = reports.write(result, folder, (), None if old is None else attempted(old))
    if not how.as_json:
        put(*lines[:1])
    give_result(result, folder, pages, how.as_json, taken_up=about)
    asked = any(given[name] is not None for name in ("threshold", "at_least", "fail_if_worse"))
    return max(code, int(asked and not result.passed))


def _fork_plan(source: Path, given: Mapping[str, Any]) -> "ForkPlan":
    from ..studies.forks import ForkPlan

    name, colon, number = given["from_"].rpartition(":")
    if not (colon and number.isdecimal()):
        raise SettingError(
            f"--from {given['from_']}: write ID:MESSAGE, as the page of duologue show has them, such as a1b2:4"
        )
    rebuilding, limits = _differing(given, given["user"])
    repeats = given["repeats"]
    return ForkPlan.of(source, at=int(number), id=name or None, rebuilding=rebuilding, repeats=repeats, limits=limits)


def _replay_plan(source: Path, given: Mapping[str, Any], how: HowToRun) -> "ReplayPlan":
    from ..studies.replays import ReplayPlan

    if given["user"] is not None or given["repeats"] != 1:
        raise SettingError("--replay-user: the users say what they said: leave --user and --repeats out")
    rebuilding, limits = _differing(given, None)
    return ReplayPlan.of(source, rebuilding=rebuilding, limit=given["limit"], limits=limits, out=how.out)


def _differing(given: Mapping[str, Any], user: str | None) -> "tuple[Rebuilding, dict[str, Any]]":
    """What is to differ from the cast of the stored conversations, and from their limits."""
    from ..graphs.casts.rebuilding import Rebuilding
    from ..nodes.limits import Limits

    texts = given["settings"] or ()
    names = {one.name for one in fields(Limits)}
    limits = {name: value for name, value in set_values(texts, None).items() if name in names}
    limits |= {name: given[name] for name in ("max_turns", "seed") if given[name] is not None}

    def settings(model: Any) -> dict[str, Any]:
        return {name: value for name, value in set_values(texts, model).items() if name not in names}

    return Rebuilding(given["cast"], user, given["assistant"], given["world"], settings), limits
