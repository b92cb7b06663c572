"""`duologue recllmsim stats`: the published tables about conversations with tasks and profiles."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ...data import DataError
from ...data.text.languages import Language
from ...data.text.terminal import names_in
from ..options import completions
from ..options.shared import language_of, option
from ..output.sources import lacks
from ..output.tables import PRINTED, FigureOutput, read_source
from ..streams import say


def stats_command(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="RecLLMSim files, or a run, of conversations about tasks.")
    ],
    tables: Annotated[
        list[str] | None,
        option(
            "Print only these tables, by their keys; may be repeated.",
            "--table",
            metavar="NAME,...",
            autocompletion=completions.tables,
        ),
    ] = None,
    language: Annotated[
        Language | None, language_of("the texts. Default: the original texts, not the translations beside them.")
    ] = None,
    tokenizer: Annotated[
        str | None,
        option(
            "Count lengths with this function of a text, which returns its tokens or their number. Default: "
            "characters.",
            metavar="MODULE:FUNCTION",
        ),
    ] = None,
    output: FigureOutput = PRINTED,
) -> int:
    """Print the published tables, of simulated users and people.

    Quality, counts, hallucination, behaviour, profiles and satisfaction.
    """
    from ...analysis.recllmsim import RecllmsimStatistics, Talks, recllmsim_statistics
    from ...analysis.recllmsim.figures import recllmsim_figures
    from ...data.labels.reading import annotations_of

    names = list(RecllmsimStatistics.model_fields)
    tables = names_in(tables or ())
    for name in tables:
        if name not in names:
            raise DataError(f"there is no table {name!r}, only {', '.join(names)}")
    length: Callable[[str], Any] = len if tokenizer is None else _tokenizer(tokenizer)
    loaded = read_source(source)
    say(*loaded.notes)
    talks = Talks.of(loaded)
    if not talks.talks:
        labelled = any(map(annotations_of, loaded))
        raise DataError(
            f"{lacks(loaded, 'a task with a profile')}: recllmsim stats needs RecLLMSim files, "
            "or a run or records of such conversations: give those"
            f"{'. Labels of other conversations are used by duologue compare' if labelled else ''}"
        )
    unit = "characters" if tokenizer is None else f"tokens of {tokenizer}"
    statistics = recllmsim_statistics(talks, length=length, unit=unit, language=language)
    if output.figures is not None:
        output.draw(recllmsim_figures(statistics), output.figures)
    value, by_name = statistics.to_json(), statistics.by_name()
    if tables:
        names = [name for name in names if name in tables]
        value = {name: value[name] for name in names} | {"notes": {name: value["notes"][name] for name in names}}
    output.give(value, [by_name[name].table() for name in names])
    return 1 if loaded.broken else 0


def _tokenizer(name: str) -> Callable[[str], Any]:
    """The function of an import path, tried on a text; SettingError or DataError says what is wrong."""
    from ...analysis.recllmsim.counts import counted
    from ...nodes.settings.import_path import imported

    function = imported(name, "--tokenizer")
    if not callable(function):
        raise DataError(f"--tokenizer {name}: is not a function: give MODULE:FUNCTION, such as jieba:lcut")
    tokens: Callable[[str], Any] = function
    try:
        counted(tokens, "a text")
    except Exception as error:
        raise DataError(
            f"--tokenizer {name}: cannot count a text ({error}): give a function of a text that gives its tokens or "
            "their number"
        ) from None
    return tokens
