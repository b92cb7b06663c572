"""`duologue convert`: any data set that can be read, in another format."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from ..data import Conversation, DataError, domains, load
from ..data.formats import messages
from ..data.people import with_user
from ..data.records import is_object
from ..data.scenarios import LogScenario, ScenarioReader, scenario_formats
from ..errors import SettingError, at
from . import options
from .options import argument, option
from .printing import check_free, print_json, put, say

GENERAL = (messages.FORMAT.name, messages.SHAREGPT.name)
"""Formats of no domain, whose lines name the user."""


def convert_command(
    source: options.Source,
    target: Annotated[
        Path | None, argument("DST", "The file to write; for recllmsim a folder. With --out another shard.")
    ] = None,
    further: Annotated[list[Path] | None, argument("[RUN...]", "With --out further shards.")] = None,
    to: Annotated[str | None, option("The format; a wrong name lists all.", metavar="FORMAT")] = None,
    out: options.Out = None,
    skip_broken: options.SkipBroken = False,
    as_json: options.Json = False,
) -> int:
    """Write conversations, or scenarios, in another format.

    It lists the parts that the format cannot contain. With --out and without --to it puts the run folders of --shard K/N
    together into one, where the same command of the run goes on.
    """
    if out is not None:
        from ..runs.store import put_together  # which imports LangGraph

        folders = [source, *([target] if target else []), *(further or [])]
        put(f"{put_together(folders, out)} planned conversations of {len(folders)} run folders in {out}")
        return 0
    if target is None or to is None or further:
        raise SettingError("give SRC, DST and --to FORMAT, or run folders and --out DIR")
    writers = domains.targets()
    if to not in writers:
        raise SettingError(f"--to: {to!r} is not a format to write: give {', '.join(writers)}")
    check_free(target)
    if to in scenario_formats():
        return _write_scenarios(source, target, to, skip_broken, as_json)
    from ..runs.dataset import write_card

    loaded = load(source, skip_broken=skip_broken)
    try:
        named = (with_user(conversation) for conversation in loaded) if to in GENERAL else loaded
        left_out = writers[to](named, target)
    except ValueError as error:
        raise DataError(f"{source}: cannot be written as {to}: {error}") from None
    notes = list(loaded.notes)
    if loaded.kind == "run":
        notes.append(f"its card is {write_card(source, target, left_out, to)}")
    if keys := ", ".join(sorted(loaded.annotated)):
        notes.append(f"models or functions gave {keys}, which {target} does not say: keep it apart from people's")
    counted = {"kind": loaded.kind, "target": str(target), "to": to, "conversations": len(loaded)}
    return _report(source, counted, notes, loaded.broken, left_out, as_json)


def _write_scenarios(source: Path, target: Path, to: str, skip_broken: bool, as_json: bool) -> int:
    """Write the scenarios of conversations, of test cases or of a file of scenarios."""
    reader = ScenarioReader(source, skip_broken=skip_broken)
    entries: list[LogScenario] = []
    for entry in reader:
        with reader.broken_lines.reading(entry.where):
            _check_scenario(entry, source)
            entries.append(entry)
    try:
        left_out = domains.targets()[to](
            (Conversation(id=str(number), scenario=dict(entry.scenario)) for number, entry in enumerate(entries)),
            target,
        )
    except ValueError as error:
        raise DataError(f"{source}: cannot be written as {to}: {error}") from None
    if reader.stored:
        left_out.insert(0, f"messages and labels, of {len(entries)} conversations")
    if reader.left_out:
        left_out.insert(0, f"{reader.left_out} conversations that name no goal and have no words of a user")
    counted = {"kind": reader.format, "target": str(target), "to": to, "scenarios": len(entries)}
    return _report(source, counted, list(reader.notes), reader.broken, left_out, as_json)


def _check_scenario(entry: LogScenario, source: Path) -> None:
    keys = ("kind", "goal", "first_message")
    if not is_object(entry.scenario) or not any(entry.scenario.get(key) for key in keys):
        raise DataError(f"{at(source, entry.where)}: is not a scenario: give it a 'goal' or a 'first_message'")


def _report(
    source: Path,
    counted: Mapping[str, Any],
    notes: Sequence[str],
    broken: Sequence[str],
    left_out: Sequence[str],
    as_json: bool,
) -> int:
    if as_json:
        print_json(
            {"source": str(source), **counted, "notes": notes, "broken": list(broken), "left_out": list(left_out)}
        )
    else:
        for line in (*notes, *(f"left out: {line}" for line in left_out)):
            say(line)
        what = "scenarios" if "scenarios" in counted else "conversations"
        put(f"{counted[what]} {what} written to {counted['target']}")
    return 1 if broken else 0
