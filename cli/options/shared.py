"""Options that mean the same in several commands, each defined once.

A function gives the option where commands differ in a detail: the name, the type and the first words stay.
"""

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from ...studies.sources import MOST_DRAWN
from . import completions
from .sections import BOUNDS, CAST

MODELS = "openai:NAME, PROVIDER:NAME, offline, replay:PATH, people:PATH, agent:URL or MODULE:NAME"
"""What plays a user or an assistant."""

AnySource: TypeAlias = Annotated[
    Path, typer.Argument(metavar="SRC", help="A run folder, a data set's file or a folder of such files.")
]
RatedSource: TypeAlias = Annotated[
    Path, typer.Argument(metavar="SRC", help="Conversations whose users rate their satisfaction with each reply.")
]


def option(help: str, *flags: str, section: str | None = None, **settings: Any) -> Any:
    """An option of a command: its help first, then its flags, by default those that typer makes.

    A number with a minimum is N in the help, if nothing else stands for it.
    """
    if "min" in settings:
        settings.setdefault("metavar", "N")
    return typer.Option(*flags, help=help, rich_help_panel=section, **settings)


def out_to(place: str, metavar: str = "DIR", **settings: Any) -> Any:
    """Where a command writes."""
    return option(f"Write to {place}", "--out", metavar=metavar, **settings)


def json_of(content: str, **settings: Any) -> Any:
    """JSON in place of text."""
    return option(f"Print JSON on stdout: {content}.", "--json", **settings)


def force_for(content: str, section: str | None = None) -> Any:
    """Leave to replace what exists."""
    return option(f"Replace existing files: {content}.", "--force", section=section)


def limit_to(things: str, **settings: Any) -> Any:
    """The first N of them."""
    return option(f"Limit to the first N {things}. Default: all.", "--limit", min=1, **settings)


def sample_of(things: str) -> Any:
    """N of them, at random."""
    return option(f"Draw N {things} at random with the seed. Default: all.", "--sample", min=1)


def draw_of(most: int, whose: str = "of users") -> Any:
    """Conversations of a source that are drawn at most."""
    line = f"Take at most N conversations of each source: those {whose} drawn with the seed. Default: {most}."
    return option(line, "--draw", section=BOUNDS, metavar="N", min=1)


Draw: TypeAlias = Annotated[int, draw_of(MOST_DRAWN)]


def seed_of(content: str, section: str | None = None) -> Any:
    """A number from which all chance follows."""
    return option(f"Set the seed of {content}.", "--seed", section=section, metavar="N")


def attempts_for(thing: str, default: str = "", **settings: Any) -> Any:
    """How often a call is repeated."""
    more = f" Default: {default}." if default else ""
    return option(
        f"Set the maximum number of calls for {thing}, the first included.{more}", "--attempts", min=1, **settings
    )


def model_for(content: str, **settings: Any) -> Any:
    """A model, or several."""
    return option(f"Use this model {content}", "--model", metavar="MODEL", **settings)


def user_by(content: str = f"{MODELS}.", **settings: Any) -> Any:
    """Who plays the user."""
    return option(f"Play the user with this model: {content}", "--user", metavar="MODEL", **settings)


def assistant_by(content: str = f"{MODELS}.", metavar: str = "MODEL", **settings: Any) -> Any:
    """Who plays the assistant."""
    return option(f"Play the assistant with this model: {content}", "--assistant", metavar=metavar, **settings)


def people_from(content: str) -> Any:
    """People's conversations."""
    return option(f"Compare with people's conversations: {content}.", "--people", metavar="SRC")


def scenarios_from(content: str, metavar: str = "SRC") -> Any:
    """Scenarios of a source."""
    return option(f"Take the scenarios of this source: {content}", "--scenarios", metavar=metavar)


def part_of(content: str, **settings: Any) -> Any:
    """A split of the users."""
    return option(
        f"Take only users of this split {content}: tune (development), test, or all.",
        "--part",
        **settings,
    )


def language_of(content: str, **settings: Any) -> Any:
    """English or Chinese."""
    return option(f"Choose the language of {content}", "--language", **settings)


def labels_named(content: str) -> Any:
    """Names of labels."""
    help_text = f"Name the labels {content} May be repeated."
    return option(help_text, "--labels", metavar="NAME,...", autocompletion=completions.label_names)


def journal_in(place: str, metavar: str, **settings: Any) -> Any:
    """Where replies are kept between commands."""
    line = f"Keep every reply in {place}; the same command continues from there."
    return option(line, "--journal", metavar=metavar, **settings)


def answers_in(content: str) -> Any:
    """The answers of labellers."""
    return option(f"Use this folder of people's answers{content}.", "--answers", metavar="DIR")


def study_of(content: str) -> Any:
    """A side-by-side study."""
    return option(f"Read the side-by-side study of this YAML file{content}.", "--study", metavar="FILE")


def baseline_of(content: str) -> Any:
    """Users made from people."""
    return option(f"Add retrieval-based users as a baseline{content}. No model is called.", "--baseline/--no-baseline")


def cast_named(content: str, **settings: Any) -> Any:
    """A cast by name."""
    return option(f"Choose the cast{content}", "--cast", metavar="CAST", autocompletion=completions.casts, **settings)


def cast_argument(content: str, metavar: str = "CAST") -> Any:
    """A cast as an argument."""
    return typer.Argument(
        metavar=metavar, help=f"A registered cast, or MODULE:FUNCTION{content}", autocompletion=completions.casts
    )


LabelsDir: TypeAlias = Annotated[
    Path | None,
    option(
        "Read label definitions from this folder, a Markdown file each; they replace shipped ones of the same name.",
        "--labels-dir",
        metavar="DIR",
    ),
]
Prompts: TypeAlias = Annotated[
    Path | None,
    option(
        "Read prompt templates from this folder; each replaces the shipped one of the same name.",
        "--prompts",
        section=CAST,
        metavar="DIR",
    ),
]
Behaviour: TypeAlias = Annotated[
    list[str] | None,
    option(
        "Give the users these behaviours, such as impatient,incomplete, or impatient=0.3 for a share of them. "
        "May be repeated: each scenario meets each kind of user; plain means no behaviour.",
        "--behaviour",
        section=CAST,
        metavar="NAME,...",
    ),
]
Repeats: TypeAlias = Annotated[int, option("Simulate N conversations about each scenario.", "--repeats", min=1)]
JudgeOption: TypeAlias = Annotated[
    str | None,
    option(
        "Judge success with this model where a scenario asks for a judgement and names no model: openai:NAME.",
        "--judge",
        metavar="MODEL",
    ),
]
SettingsOption: TypeAlias = Annotated[
    list[str] | None,
    option("Set a setting of the cast; may be repeated.", "--set", section=CAST, metavar="NAME=VALUE"),
]
Yes: TypeAlias = Annotated[
    bool,
    option("Start a large run without asking; only its size is printed.", "--yes", section=BOUNDS),
]
