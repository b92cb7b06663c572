"""The words of the command line: the list of commands, one meaning for each option, former words."""

import gc
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import typer

from duologue.cli import app
from duologue.cli.former_words import COMMANDS, FORMATS, OPTIONS
from duologue.cli.options.run import options_of_run
from duologue.cli.registry import COMMANDS as PRESENT
from duologue.cli.registry import SUBJECTS

Command = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parent.parent.parent

FORMER = (
    "demo", "simulate", "test", "convert", "check", "validators", "repair simquac", "runs list", "runs validate",
    "runs repair", "stats logs", "stats simquac", "stats teacher", "stats baseline", "stats recllmsim", "stats preference",
    "stats judges", "stats satisfaction", "stats intents", "compare", "agreement", "next-turn", "testers", "tune", "annotate",
    "label", "readers", "topics", "tasks", "profiles generate", "profiles identify", "draw", "show", "doctor",
)  # fmt: skip
"""The commands of version 0.1.0."""

LONG = 14
"""Options from which a help has sections, the first of at most eight options."""

TWO_TYPES = {"--scenarios": "a path everywhere; `tune` takes the word `own` too"}
"""Options of more than one type, and why."""

TWO_VALUES = {
    "--assistant": "`validity` has assistants with seeded faults by name",
    "--journal": "`simquac readers` keeps a folder, with the conversations of each reader; the others a file",
    "--out": "a run is a folder, a table a file",
    "--scenarios": "`tune` takes the word `own` too",
    "--split": "`identify` compares two splits more",
}
"""Options of more than one metavar or set of choices, and why."""

ONE_EACH = ("--between", "--fact", "--model", "--rater", "--scale", "--template-name", "--user", "--with-assistant")
"""Options that may be repeated and take one value at a time: models, pairs, orders, sentences, names with commas of their own."""

SEVERAL = {
    "--assistant": "`validity` has several assistants",
    "--model": "`recllmsim profiles` writes with one model; other commands compare several",
    "--user": "`next-turn` and `validity` compare several users",
}
"""Options that only some commands take repeatedly, and why."""


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and group, with its words."""

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        yield " ".join(words), command
        if hasattr(command, "list_commands"):
            for name in command.list_commands(None):
                yield from walk(command.get_command(None, name), (*words, name))

    return walk(typer.main.get_command(app), ())


def options() -> Iterator[tuple[str, Any]]:
    """Every option of every command, with the command's words."""
    for words, command in commands():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                yield words, parameter


def value_type(option: Any) -> str:
    """The type of an option's values, or its choices; whether it may be repeated is another thing."""
    annotation = option.type_descriptor.annotation
    while get_origin(annotation) is not None and get_origin(annotation) is not Literal:
        annotation = next(member for member in get_args(annotation) if member is not type(None))
    return "|".join(get_args(annotation)) if get_origin(annotation) is Literal else str(annotation.__name__)


def test_the_list_of_commands_fits_a_terminal_with_a_whole_summary_of_each(duologue: Command) -> None:
    code, out, _ = duologue("--help")
    assert code == 0
    assert len(out.splitlines()) <= 44
    assert max(map(len, out.splitlines())) <= 80
    assert duologue("-h")[1] == out
    for name in PRESENT:
        assert re.search(rf"\b{name.split()[0]}  ", out), name
    for group in ("make", "look", "measure", "label", "improve", "serve", "keep", "papers"):
        assert re.search(rf"^  {group} ", out, re.MULTILINE), group


@pytest.mark.parametrize("group", ["runs", "simquac", "recllmsim"])
def test_the_list_of_a_group_fits_too(duologue: Command, group: str) -> None:
    out = duologue(group, "--help")[1]
    assert max(map(len, out.splitlines())) <= 80
    for name in PRESENT:
        assert name.split()[0] != group or f"  {name.split()[1]} " in out


def test_a_module_has_its_command_s_name() -> None:
    for name in PRESENT:
        folders = [folder for folder, names in SUBJECTS.items() if name in names]
        words = [*folders, *name.replace("-", "_").split()]
        assert hasattr(import_module(f"duologue.cli.{'.'.join(words)}"), f"{words[-1]}_command")


@pytest.mark.parametrize("former", FORMER)
def test_a_former_command_exists_or_gives_the_one_of_today(duologue: Command, former: str) -> None:
    now = set(PRESENT)
    if former not in COMMANDS:
        assert former in now
        return
    assert COMMANDS[former] in now
    assert duologue(*former.split(), "x.json", "--json") == (
        2,
        "",
        f"duologue: {former!r} is now {COMMANDS[former]!r}: duologue {COMMANDS[former]} x.json --json\n",
    )


def test_the_line_of_a_former_command_is_what_one_types_today(duologue: Command) -> None:
    _, _, err = duologue("testers", "my people.jsonl", "--judge", "offline", "--limit=2")
    assert err.endswith(": duologue validity 'my people.jsonl' --rater offline --limit=2\n")
    _, _, err = duologue(
        "readers", "x.json", "--trainable"
    )  # two words of today: the former stays, and has its own line
    assert err.endswith(": duologue simquac readers x.json --trainable\n")
    options = ("--domain", "json:loads", "--measure=json:dumps", "--domain", "json:load")
    _, _, err = duologue(*options, "profiles", "generate", "a b")
    assert err.endswith(
        ": duologue --domain json:loads --domain json:load --measure json:dumps recllmsim profiles 'a b'\n"
    )


@pytest.mark.parametrize("words", [(), ("runs",), ("simquac",), ("recllmsim",), ("simulate",)])
def test_a_group_without_further_words_prints_its_help(duologue: Command, words: tuple[str, ...]) -> None:
    code, out, err = duologue(*words)
    assert (code, out.rstrip(), err) == (2, duologue(*words, "--help")[1].rstrip(), "")


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_a_former_option_gives_the_one_of_today(duologue: Command, command: str, option: str) -> None:
    now = OPTIONS[command, option]
    assert duologue(*command.split(), option, "1") == (2, "", f"duologue: {option} is now {now}\n")
    present = {name for words, each in options() if words == command for name in (*each.opts, *each.secondary_opts)}
    assert re.match(r"--[a-z-]+", now)[0] in present


@pytest.mark.parametrize(("former", "now"), FORMATS.items())
def test_a_former_format_gives_the_one_of_today(duologue: Command, former: str, now: str) -> None:
    expected = f"duologue: --format {former} is now --format {now}\n"
    assert duologue("stats", "x.json", "--format", former) == (2, "", expected)


@pytest.mark.parametrize("page", ["docs/start/troubleshooting.md", "CHANGELOG.md"])
def test_the_tables_of_former_words_are_whole(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for former in FORMER:
        assert f"| `{former}` | `{COMMANDS.get(former, former)}` |" in text
    for (command, option), now in OPTIONS.items():
        assert f"| `{command}` | `{option}` | `{now}` |" in text
    for former, now in FORMATS.items():
        assert f"| every table | `--format {former}` | `--format {now}` |" in text


def test_an_option_has_one_type_and_one_meaning_in_every_command() -> None:
    types, several, helps, values = defaultdict(set), defaultdict(set), defaultdict(set), defaultdict(set)
    for words, option in options():
        name = option.opts[0]
        types[name].add(value_type(option))
        values[name].add(option.metavar or value_type(option))
        if option.metavar is None:
            assert value_type(option) == "bool" or "|" in value_type(option), (
                f"{words} {name}: what stands for its value?"
            )
        several[name].add(option.multiple)
        assert option.multiple == ("may be repeated" in option.help.lower()), (words, name)
        helps[name].add(" ".join(option.help.split()[:2]))
    odd = {name: of_name for name, of_name in types.items() if len(of_name) > 1}
    assert {name: of_name for name, of_name in odd.items() if name not in (*TWO_TYPES, "--split")} == {}
    assert {name for name, of_name in values.items() if len(of_name) > 1} == set(TWO_VALUES)
    assert {name for name, values in several.items() if len(values) > 1} == set(SEVERAL)
    assert {name: words for name, words in helps.items() if len(words) > 1} == {}


def test_an_option_that_takes_several_names_takes_them_with_commas_too() -> None:
    taken = {
        option.opts[0]: option.metavar for _, option in options() if option.multiple and value_type(option) == "str"
    }
    one_each = {name for name, metavar in taken.items() if not metavar.endswith(",...")}
    assert {name for name in one_each if "MODULE" not in taken[name] and "=" not in taken[name]} == set(ONE_EACH)


def test_a_help_begins_with_a_verb_and_ends_with_a_full_stop() -> None:
    nouns = {
        "A",
        "An",
        "The",
        "What",
        "Who",
        "Which",
        "How",
        "Where",
        "When",
        "Only",
        "Most",
        "Also",
        "With",
        "Of",
        "No",
    }
    for words, option in options():
        assert option.help.split()[0] not in nouns, (words, option.opts)
        assert option.help.rstrip().endswith("."), (words, option.opts)
    for words, command in commands():
        if command.help and not words.startswith("simulate "):  # those are the casts' own words
            first = command.help.partition("\n")[0]
            assert first.split()[0] not in nouns, words
            assert first.endswith("."), words


def test_a_long_help_begins_with_eight_options_at_most_and_has_sections() -> None:
    for words, command in commands():
        named = [option for option in command.params if option.param_type_name == "option"]
        first = [option for option in named if option.rich_help_panel is None]
        if len(named) > LONG:
            assert 0 < len(first) <= 8, words
            assert len({option.rich_help_panel for option in named}) > 2, words


def test_an_option_of_duologue_itself_behind_a_command_says_where_it_stands(duologue: Command) -> None:
    code, _, stderr = duologue("compare", "a", "b", "--measure", "one_word:ONE_WORD")
    assert code == 2
    assert "--measure stands before the command: duologue --measure MODULE:NAME compare ..." in stderr


SHOWN = re.compile(r"(?:^|[\s`(\"'/])duologue((?: +[^\s`#|\"\\]+)+)", re.MULTILINE)
"""A command line in prose or in a block."""


def shown_commands() -> Iterator[tuple[str, list[str]]]:
    """The command lines that the docs, the notebooks and the examples show, with their files."""
    # those of docs/extend are executed by their own test
    pages = (page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "extend")
    files = [ROOT / "README.md", *pages, *(ROOT / "notebooks").glob("*.ipynb")]
    files += [*(ROOT / "examples").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    names = {name for name, _ in commands() if name}
    for file in sorted(files):
        text = file.read_text(encoding="utf-8").partition("# Former names")[0].replace("\\n", "\n")
        for shown in SHOWN.findall(text):
            words = [word.strip("[].,;:)") for word in shown.split()]
            if words[0] in names or words[0] in {former.split()[0] for former in COMMANDS}:
                yield file.relative_to(ROOT).as_posix(), words


def test_every_command_line_that_is_shown_is_one_of_today() -> None:
    flags: dict[str, set[str]] = defaultdict(set)
    for command, option in options():
        flags[command] |= {*option.opts, *option.secondary_opts}
    own = set().union(*(flags[command] for command in flags if command.startswith("simulate ")))
    wrong, seen = [], 0
    for file, words in shown_commands():
        seen += 1
        two, one = " ".join(words[:2]), words[0]
        name = two if two in flags else one
        if two in COMMANDS or one in COMMANDS or (name not in flags and name not in ("runs", "simquac", "recllmsim")):
            wrong.append((file, " ".join(words)))
            continue
        present = flags[name] | (own if one == "simulate" else set()) | {"--help", "-h"}
        given = [word.partition("=")[0] for word in words if word.startswith("--")]
        wrong += [(file, f"{name} {option}") for option in given if option not in present]
    assert wrong == []
    assert seen > 150


def test_every_command_that_asks_models_has_the_options_of_asking_in_the_same_words() -> None:
    by_command: dict[str, dict[str, Any]] = defaultdict(dict)
    for words, option in options():
        by_command[words][option.opts[0]] = option
    names = {f"--{name.replace('_', '-')}" for name in options_of_run()}
    asking = {
        words for words, own in by_command.items() if any("MODEL" in str(option.metavar) for option in own.values())
    }
    asking -= {"recllmsim intents", "recllmsim satisfaction"}  # their models are trained on the data
    asking -= {"serve-user"}  # a request asks for one message, and how many there are is the harness' choice
    assert len(asking) >= 12
    for name in names:
        meanings = {
            (value_type(option), option.metavar, option.help, option.rich_help_panel, str(option.default))
            for option in (by_command[words][name] for words in asking)
        }
        assert len(meanings) == 1, name


def test_a_command_without_models_does_not_wait_for_langgraph():
    after = "import atexit, sys; atexit.register(lambda: sys.stderr.write(str('langgraph' in sys.modules)))"
    command = "from duologue.cli.commands import main; sys.argv = ['duologue', 'check', '--help']; main()"
    done = subprocess.run([sys.executable, "-c", f"{after}; {command}"], capture_output=True, text=True, check=True)
    assert done.stderr == "False"


def test_a_command_looks_for_garbage_rarely(duologue):
    before = gc.get_threshold()
    gc.set_threshold(700)
    duologue("--version")
    assert gc.get_threshold()[0] == 10_000
    gc.set_threshold(*before)
