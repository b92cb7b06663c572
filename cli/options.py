"""The options that several commands have, each with its name, type and first words defined once."""

import re
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from ..data.people import UserPart
from ..data.text.languages import Language
from ..errors import SettingError
from .printing import TableFormat

_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(d|h|min|m|s)", re.IGNORECASE)
_SECONDS = {"d": 86400, "h": 3600, "min": 60, "m": 60, "s": 1}
LONGEST = 366 * 86400
"""Seconds of a year; what is longer is a slip."""


def seconds(text: str | float) -> float:
    """The seconds of a duration such as `45s`, `1h30m` or `600`; SettingError for anything else."""
    words = str(text).strip()
    parts = _PART.findall(words)
    if parts and not _PART.sub("", words).strip():
        value = sum(float(number) * _SECONDS[unit.lower()] for number, unit in parts)
    else:
        value = float(words) if re.fullmatch(r"[0-9]+(\.[0-9]+)?", words) else 0.0
    if not 0 < value <= LONGEST:
        raise SettingError(f"{words!r} is not a duration: write 45s, 90m, 2h, 1h30m or a number of seconds above 0")
    return value


def number_or_auto(text: str | int) -> Any:
    """A number from 1, or `auto`."""
    words = str(text).strip().lower()
    if words != "auto" and (not words.isdecimal() or not int(words)):
        raise SettingError(f"{str(text)!r} is not a positive integer: write one from 1, or auto")
    return words if words == "auto" else int(words)


def above_zero(text: str | float) -> float:
    """A number above 0, as a bound must be."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise SettingError(f"{str(text)!r} is not a bound: give a number above 0")
    return value


def margin_of(text: str) -> Any:
    """`shown`, or a share above 0 and below 1."""
    if text == "shown":
        return text
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise SettingError(f"--fail-if-worse: expected shown, or a share above 0 and below 1, not {text!r}")
    return share


def option(help: str, *flags: str, **settings: Any) -> Any:
    """An option: its help, then its flags, by default that of the parameter's name."""
    return typer.Option(*flags, help=help, show_default=False, **settings)


def argument(metavar: str, help: str) -> Any:
    """An argument."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


# How to run: the same everywhere

Out: TypeAlias = Annotated[Path | None, option("Write here; the same command goes on there.", metavar="DIR")]
Limit: TypeAlias = Annotated[int | None, option("Take only the first N.", min=1, metavar="N")]
Repeats: TypeAlias = Annotated[int, option("Conversations about each scenario.", min=1, metavar="N")]
Seed: TypeAlias = Annotated[int | None, option("Set the seed of all chance.", metavar="N")]
Json: TypeAlias = Annotated[bool, option("Print the result as JSON.", "--json")]

RUN: dict[str, tuple[Any, Any]] = {
    "out": (Out, None),
    "limit": (Limit, None),
    "repeats": (Repeats, 1),
    "seed": (Seed, None),
    "concurrency": (
        Annotated[Any, option("Calls at the same time; default: auto.", parser=number_or_auto, metavar="N|auto")],
        None,
    ),
    "max_cost": (
        Annotated[float | None, option("Spend at most so much.", parser=above_zero, metavar="USD")],
        None,
    ),
    "max_tokens": (Annotated[int | None, option("Use at most N tokens.", min=1, metavar="N")], None),
    "max_time": (Annotated[float | None, option("End after 45s, 90m, 2h.", parser=seconds, metavar="TIME")], None),
    "plan": (Annotated[bool, option("Print calls and cost, and do nothing.", "--plan")], False),
    "as_json": (Json, False),
    "replies": (
        Annotated[Path | None, option("Keep replies in this file, and take them from it.", metavar="FILE")],
        None,
    ),
    "frozen": (Annotated[bool, option("A reply that is not kept is an error.", "--frozen")], False),
    "shard": (Annotated[str | None, option("Do each N-th part of the plan, from K on.", metavar="K/N")], None),
    "ray": (Annotated[str | None, option("Have a Ray cluster do the parts.", metavar="ADDRESS")], None),
}
"""Type and default of each."""

# Who takes part, and what is talked about

User: TypeAlias = Annotated[str | None, option("Who plays the user: openai:NAME, offline, ...", metavar="MODEL")]
Assistant: TypeAlias = Annotated[
    str | None, option("The agent: MODULE:NAME, openai:NAME, ...", metavar="MODEL|MODULE:NAME")
]
Users: TypeAlias = Annotated[list[str] | None, option("As for simulate; may be repeated.", "--user", metavar="MODEL")]
ScenariosFrom: TypeAlias = Annotated[
    Path | None, option("A file of scenarios, or stored conversations.", "--scenarios", metavar="SRC")
]
Judge: TypeAlias = Annotated[str | None, option("Model that judges success.", metavar="MODEL")]
Behaviour: TypeAlias = Annotated[list[str] | None, option("What users do; may be repeated.", metavar="NAME,...")]
CastName: TypeAlias = Annotated[str | None, option("A cast, by name or MODULE:FUNCTION.", "--cast", metavar="CAST")]
World: TypeAlias = Annotated[str | None, option("World that the agent's tools work on.", metavar="MODULE:NAME")]
Context: TypeAlias = Annotated[str | None, option("Context of the agent's graph.", metavar="MODULE:NAME")]
Settings: TypeAlias = Annotated[
    list[str] | None, option("A setting of cast, scenarios or limits.", "--set", metavar="NAME=VALUE")
]
MaxTurns: TypeAlias = Annotated[int | None, option("Most turns of a conversation.", min=1, metavar="N")]
Part: TypeAlias = Annotated[UserPart, option("Only users of this split.", "--part")]
LanguageOf: TypeAlias = Annotated[Language | None, option("Language of texts.", "--language")]

# Sources, models and results

Source: TypeAlias = Annotated[Path, argument("SRC", "A run folder, a data set's file, or a folder of such files.")]
SkipBroken: TypeAlias = Annotated[bool, option("Leave out broken lines, and count them.", "--skip-broken")]
Model: TypeAlias = Annotated[str | None, option("Model to ask: openai:NAME, PROVIDER:NAME.", metavar="MODEL")]
Models: TypeAlias = Annotated[list[str] | None, option("May be repeated.", "--model", metavar="MODEL")]
Labels: TypeAlias = Annotated[
    list[str] | None, option("Names of labels, such as style,intent.", "--labels", metavar="NAME,...")
]
LabelsDir: TypeAlias = Annotated[Path | None, option("Label pages of your own.", "--labels-dir", metavar="DIR")]
Form: TypeAlias = Annotated[TableFormat, option("Form of the tables.", "--format")]
File: TypeAlias = Annotated[Path | None, option("Write to this new file.", "--out", metavar="FILE")]
Token: TypeAlias = Annotated[
    Path | None, option("File with the token of clients; made if missing.", "--token", metavar="FILE")
]
Port: TypeAlias = Annotated[int | None, option("Port; default: the first free one.", min=1, max=65535, metavar="N")]
