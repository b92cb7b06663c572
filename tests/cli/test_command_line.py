"""The words of the command line: the list of commands, and one meaning for each option."""

import gc
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import typer

from duologue.cli import app
from duologue.cli.options.run import options_of_run
from duologue.cli.registry import COMMANDS as PRESENT

Command = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parent.parent.parent

TWO_TYPES = {
    "--examples": "`compare` shows so many messages; commands that ask a model give it conversations of a source"
}
"""Options of more than one type, and why."""

ONE_EACH = ("--between", "--fact", "--model", "--rater", "--scale", "--user", "--without")
"""Options that may be repeated and take one value at a time: models, pairs, orders, sentences, names with commas of their own."""

SEVERAL = {
    "--assistant": "`validity` has several assistants",
    "--model": "`papers recllmsim profiles` writes with one model; other commands compare several",
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
    for group in ("make", "look", "measure", "label", "serve", "keep", "papers"):
        assert re.search(rf"^  {group} ", out, re.MULTILINE), group


@pytest.mark.parametrize("group", ["runs"])
def test_the_list_of_a_group_fits_too(duologue: Command, group: str) -> None:
    out = duologue(group, "--help")[1]
    assert max(map(len, out.splitlines())) <= 80
    for name in PRESENT:
        assert name.split()[0] != group or f"  {name.split()[1]} " in out


@pytest.mark.parametrize("words", [(), ("runs",), ("papers",), ("simulate",)])
def test_a_group_without_further_words_prints_its_help(duologue: Command, words: tuple[str, ...]) -> None:
    code, out, err = duologue(*words)
    assert (code, out.rstrip(), err) == (2, duologue(*words, "--help")[1].rstrip(), "")


def test_an_option_has_one_type_and_one_meaning_in_every_command() -> None:
    types, several = defaultdict(set), defaultdict(set)
    for words, option in options():
        name = option.opts[0]
        types[name].add(value_type(option))
        several[name].add(option.multiple)
        assert option.multiple == ("may be repeated" in option.help.lower()), (words, name)
    odd = {name: of_name for name, of_name in types.items() if len(of_name) > 1}
    assert {name: of_name for name, of_name in odd.items() if name not in (*TWO_TYPES, "--split")} == {}
    assert {name for name, values in several.items() if len(values) > 1} == set(SEVERAL)


def test_an_option_that_takes_several_names_takes_them_with_commas_too() -> None:
    taken = {
        option.opts[0]: option.metavar for _, option in options() if option.multiple and value_type(option) == "str"
    }
    one_each = {name for name, metavar in taken.items() if not metavar.endswith(",...")}
    assert {name for name in one_each if "MODULE" not in taken[name] and "=" not in taken[name]} == set(ONE_EACH)


def test_an_option_of_duologue_itself_behind_a_command_says_where_it_stands(duologue: Command) -> None:
    code, _, stderr = duologue("compare", "a", "b", "--log-format", "till:FORMAT")
    assert code == 2
    assert "--log-format stands before the command: duologue --log-format MODULE:NAME compare ..." in stderr


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
        text = file.read_text(encoding="utf-8").replace("\\n", "\n")
        for shown in SHOWN.findall(text):
            words = [word.strip("[].,;:)") for word in shown.split()]
            if words[0] in names:
                yield file.relative_to(ROOT).as_posix(), words


def test_every_command_line_that_is_shown_is_one_of_today() -> None:
    flags: dict[str, set[str]] = defaultdict(set)
    for command, option in options():
        flags[command] |= {*option.opts, *option.secondary_opts}
    own = set().union(*(flags[command] for command in flags if command.startswith("simulate ")))
    wrong, seen = [], 0
    for file, words in shown_commands():
        seen += 1
        one = words[0]
        name = next((name for n in (3, 2) if (name := " ".join(words[:n])) in flags), one)
        if name not in flags and name not in ("runs", "papers"):
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
    asking -= {"papers recllmsim intents", "papers recllmsim satisfaction"}  # their models are trained on the data
    asking -= {"demo"}  # its few calls are bounded by what it is
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
