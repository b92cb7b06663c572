"""The reference of the commands, as Markdown, from the commands themselves."""

from collections.abc import Iterator
from typing import Any

import typer

from duologue.cli import app


def reference() -> str:
    """A section for each command: what it does, how it is called, and a table of its options."""
    return "\n".join(
        line
        for words, command in _commands(typer.main.get_command(app), ())
        for line in _of(words, command)
    )


def _commands(
    command: Any, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            inner = command.get_command(None, name)
            if not inner.hidden:
                yield from _commands(inner, (*words, name))
    else:
        yield words, command


def _of(words: tuple[str, ...], command: Any) -> Iterator[str]:
    name = " ".join(words)
    context = typer.Context(command, info_name=f"duologue {name}")
    yield f"\n## {name}\n"
    yield f"    {command.get_usage(context).removeprefix('Usage: ')}\n"
    yield f"{_text((command.help or '').strip())}\n"
    shown = [
        parameter
        for parameter in command.params
        if not getattr(parameter, "hidden", False)
    ]
    if shown:
        yield "| option | what it does | default |\n|---|---|---|"
        yield from (_row(parameter) for parameter in shown)


def _row(parameter: Any) -> str:
    named = parameter.param_type_name == "option"
    names = (
        [*parameter.opts, *parameter.secondary_opts]
        if named
        else [(parameter.metavar or parameter.name).upper()]
    )
    label = ", ".join(f"`{name}`" for name in names)
    value = parameter.default
    default = (
        ""
        if value in (None, False, (), []) or callable(value)
        else f"`{_text(str(value))}`"
    )
    return f"| {label} | {_text(getattr(parameter, 'help', '') or '')} | {default} |"


def _text(text: str) -> str:
    """The text on one line of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
