"""`duologue validity`: agreement of simulated users with people, and detection of seeded faults."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from ..data.loading import load
from ..errors import SettingError
from . import options
from .options import argument, option
from .printing import check_apart, print_json, put, put_tables, say
from .running import HowToRun, carrying, how_to_run, new_run


@how_to_run("shard", "ray")
def validity_command(
    source: Annotated[
        Path | None, argument("[SRC]", "People's conversations with their satisfaction, to compare users with.")
    ] = None,
    user: options.Users = None,
    assistant: Annotated[
        list[str] | None,
        option("good, forgetful, wordy, wrong, none, NAME=MODEL.", "--assistant", metavar="NAME[=MODEL]"),
    ] = None,
    judge: Annotated[list[str] | None, option("Rates SRC as the person.", "--judge", metavar="MODEL")] = None,
    scenarios: options.ScenariosFrom = None,
    part: options.Part = "test",
    repeats: options.Repeats = 2,
    *,
    how: HowToRun,
) -> int:
    """Measure the validity of simulated users.

    Whether simulated users rate as people do, and detect assistants with seeded faults: all of them by default, the
    reference first; with --assistant none only ratings are compared. Exit code 1: a conversation has no score.
    """
    from ..studies.validation import REPORT, validity

    check_apart(how.out, source)
    meets = assistant != ["none"]
    if source is None and (judge or not meets):
        raise SettingError("give SRC, people's conversations with their satisfaction, to compare simulated users with")
    users = {spec: spec for spec in user or ["offline"]}
    if source is not None and not user:
        users[f"people:{source.name}?part=tune"] = f"people:{source}?part=tune"
    people = None if source is None else load(source)
    if people is not None:
        say(*(f"{people.path}: {note}" for note in people.notes))
    folder = new_run(how, "validity")
    with how.keys():
        report = validity(
            people, users, assistants=_named(assistant or ()) if meets else {}, judge=judge or (), part=part,
            scenarios=scenarios, limit=how.limit, repeats=repeats, seed=how.seed or 0, out=folder,
            carry=carrying(how, folder),
        )  # fmt: skip
    if how.as_json:
        print_json({"out": str(folder), **report.model_dump(mode="json")})
    else:
        put_tables(report.narrow())
        put("", f"written: {folder / REPORT}")
    testers = [row for row in (report.people.rows if report.people else ()) if row.kind == "tester"]
    return int(any(row.failed for row in report.told) or any(row.failed for row in testers))


def _named(texts: Sequence[str]) -> dict[str, str]:
    """The specs of assistants by name: `NAME=MODEL` or a seeded fault; all seeded faults by default.

    SettingError for an unknown name, for one that is there twice, and for a single assistant.
    """
    from ..nodes.seeded_faults import PLANTED

    assistants: dict[str, str] = {}
    for text in texts or PLANTED:
        name, _, spec = text.partition("=")
        spec = spec or name
        if "=" not in text and name not in PLANTED:
            raise SettingError(
                f"--assistant {name}: is not one of {', '.join(PLANTED)}: write NAME=MODEL for one of yours"
            )
        if not name.strip() or not spec.strip() or name in assistants:
            raise SettingError(f"--assistant {text}: write NAME=MODEL, such as v2=my_agent:graph, each name once")
        assistants[name] = PLANTED.get(spec, spec)
    if len(assistants) < 2:
        raise SettingError("--assistant: there is nothing to compare: give two, the first is the reference")
    return assistants
