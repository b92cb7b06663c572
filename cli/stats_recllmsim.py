"""`duologue stats recllmsim`: the tables about tasks and profiles, and what every table's command says of its source."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ..data import DataError
from ..data.loading import Loaded, description_of
from ..data.text.languages import Language
from ..errors import at
from .output import say
from .tables import AsJson, Figures, ForceAll, Form, Out, draw_figures, give, read_whole


def recllmsim(
    source: Annotated[
        Path, typer.Argument(metavar="SRC", help="RecLLMSim files, or a run, of conversations about tasks.")
    ],
    tables: Annotated[
        list[str] | None, typer.Option("--table", help="Only this table, by its key; may be given several times.")
    ] = None,
    language: Annotated[
        Language | None,
        typer.Option(help="Language of the texts. Default: the original texts, not the translations beside them."),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            help="Function that counts lengths: takes a text, returns its tokens or their number. Default: characters.",
        ),
    ] = None,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    figures: Figures = None,
    force: ForceAll = False,
) -> int:
    """Quality, counts, hallucination, behaviour, profiles and satisfaction, for simulated users and for people."""
    from ..analysis.annotations import annotations_of
    from ..analysis.recllmsim import RecllmsimStatistics, Talks, recllmsim_statistics
    from ..analysis.recllmsim.figures import recllmsim_figures
    from ..runs.label_origins import annotated_keys

    names = list(RecllmsimStatistics.model_fields)
    for name in tables or ():
        if name not in names:
            raise DataError(f"there is no table {name!r}, only {', '.join(names)}")
    length: Callable[[str], Any] = len if tokenizer is None else _tokenizer(tokenizer)
    loaded = read_whole(source)
    for note in loaded.notes:
        say(note)
    talks = Talks.of(loaded, annotated_keys(source))
    if not talks.talks:
        labelled = any(map(annotations_of, loaded))
        raise DataError(
            f"{lacks(loaded, 'a task with a profile')}: stats recllmsim needs RecLLMSim files, "
            "or a run or records of such conversations: give those"
            f"{'. Labels of other conversations are used by duologue compare' if labelled else ''}"
        )
    unit = "characters" if tokenizer is None else f"tokens of {tokenizer}"
    statistics = recllmsim_statistics(talks, length=length, unit=unit, language=language)
    if figures is not None:
        draw_figures(recllmsim_figures(statistics), figures, out, force=force)
    value, by_name = statistics.to_json(), statistics.by_name()
    if tables:
        names = [name for name in names if name in tables]
        value = {name: value[name] for name in names} | {"notes": {name: value["notes"][name] for name in names}}
    give(value, [by_name[name].table() for name in names], as_json=as_json, form=form, out=out, force=force)
    return 1 if loaded.broken else 0


def lacks(loaded: Loaded, topic: str) -> str:
    """What the path is, how many conversations it has, and that none is about the topic."""
    count = f"with {len(loaded)} conversation{'' if len(loaded) == 1 else 's'}, none about {topic}"
    return f"{at(loaded.path)}: is {description_of(loaded.kind)} {count if len(loaded) else 'without any conversation'}"


def _tokenizer(name: str) -> Callable[[str], Any]:
    """The function of an import path, tried on a text; SettingError or DataError says what is wrong."""
    from ..analysis.recllmsim.counts import counted
    from ..nodes.import_path import imported

    function = imported(name, "--tokenizer")
    if not callable(function):
        raise DataError(f"--tokenizer {name}: is no function: give MODULE:FUNCTION, such as jieba:lcut")
    tokens: Callable[[str], Any] = function
    try:
        counted(tokens, "a text")
    except Exception as error:
        raise DataError(
            f"--tokenizer {name}: cannot count a text ({error}): give a function of a text that gives its tokens or their number"
        ) from None
    return tokens
