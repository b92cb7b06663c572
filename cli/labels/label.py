"""`duologue label`: people label conversations on a page in the browser."""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from ...data.files.json import dumps
from ...data.text.terminal import names_in
from ...errors import DataError, SettingError, of_extra
from ...views.pages import plural
from ..options.shared import (
    LabelsDir,
    answers_in,
    force_for,
    json_of,
    labels_named,
    limit_to,
    option,
    out_to,
    seed_of,
    study_of,
)
from ..output.overwriting import check_free
from ..output.tables import read_source
from ..streams import print_json, put, say

ANSWERS = "Answers of several people"
PAGE = "The page"
"""Sections of the help."""


def label_command(
    source: Annotated[
        Path | None, typer.Argument(metavar="SRC", help="Conversations to label: a run or a data set of any format.")
    ] = None,
    labels: Annotated[list[str] | None, labels_named("to ask for; docs/labels/by_models.md lists all.")] = None,
    study: Annotated[Path | None, study_of(", in place of SRC and --labels (docs/labels/by_people.md)")] = None,
    by: Annotated[str | None, option("Label as this person; each person has a file.", "--as", metavar="NAME")] = None,
    answers: Annotated[Path, answers_in("")] = Path("answers"),
    labels_dir: LabelsDir = None,
    limit: Annotated[
        int | None,
        limit_to("items in all, including those that this person has answered and a study's quiz"),
    ] = None,
    out: Annotated[
        Path | None,
        out_to(
            "this folder a copy of SRC with people's labels (style_human, KEY_human), in place of the page.",
            section=ANSWERS,
        ),
    ] = None,
    write_to: Annotated[
        Path | None,
        option(
            "Write all people's answers as JSON lines, in place of the page.",
            "--write",
            section=ANSWERS,
            metavar="FILE",
        ),
    ] = None,
    read_from: Annotated[
        Path | None,
        option(
            "Read answers from such a file, in place of the page; --as names their person if the file does not.",
            "--read",
            section=ANSWERS,
            metavar="FILE",
        ),
    ] = None,
    release: Annotated[
        str | None,
        option(
            "Release conversations of a study that this person has begun and not finished, in place of the page. "
            "Their answers stay.",
            section=ANSWERS,
            metavar="NAME",
        ),
    ] = None,
    force: Annotated[bool, force_for("the file of --write, or the copy of --out", ANSWERS)] = False,
    as_json: Annotated[bool, json_of("what was written or read", section=ANSWERS)] = False,
    show_model: Annotated[
        Literal["after", "never", "before"],
        option(
            "Show the data's own label after the answer, never, or before it, which biases labellers towards it.",
            section=PAGE,
        ),
    ] = "after",
    user_only: Annotated[bool, option("Show only the user's messages at first.", "--user-only", section=PAGE)] = False,
    language: Annotated[
        str,
        option(
            "Show the messages in this language at first: as stored, en, zh, or both.",
            "--show-language",
            section=PAGE,
            metavar="LANGUAGE",
        ),
    ] = "as stored",
    order: Annotated[
        Literal["disputed", "random"],
        typer.Option(
            rich_help_panel=PAGE,
            help="Order items by annotator disagreement, or at random by the seed: then the first ones are a random share.",
        ),
    ] = "disputed",
    seed: Annotated[int, seed_of("the random order, also among items of equal disagreement", PAGE)] = 0,
    port: Annotated[
        int | None,
        option("Serve the page at this port. Default: the first free one from 8501.", section=PAGE, min=1, max=65535),
    ] = None,
) -> int:
    """Label conversations by hand, on a page in the browser.

    Items with annotator disagreement come first; each answer is saved at once, and can be undone.
    """
    from ...prompts.label_pages import labels_named
    from ...studies.people_answers import copy_with_answers, export_answers, import_answers
    from ...views.labelling import Shown

    if language not in get_args(Shown):
        raise SettingError(f"--show-language {language}: give one of {', '.join(get_args(Shown))}")
    if sum(path is not None for path in (write_to, read_from, out, release)) > 1:
        raise SettingError("--write, --read, --out and --release exclude each other: give one")
    names = _names(source, labels, study)
    if release is not None:
        return _released(study, answers, release, as_json)
    chosen: dict[str, Any] = {"labels": names if study is None else None, "labels_dir": labels_dir}
    if write_to is not None:
        check_free(write_to, force=force)
        count = export_answers(answers, write_to, **chosen)
        line = f"{plural(count, 'answer')} written to {write_to}"
        return _print_result({"answers": count, "written": str(write_to)}, line, as_json)
    if out is not None:
        if not force and out.is_dir() and any(out.iterdir()):
            raise DataError(f"{out}: exists: give --force to write the copy again, or another folder")
        if source is None:
            raise SettingError("--out: a study's answers are not labels: use --write, or papers recllmsim preference")
        things = copy_with_answers(read_source(source), answers, out, **chosen, notify=say)
        line = f"{plural(things, 'thing')} labelled by people, from {answers}, in {out}"
        return _print_result({"labelled": things, "copy": str(out)}, line, as_json)
    if read_from is not None:
        loaded = None if source is None else read_source(source)
        count, new = import_answers(read_from, answers, source=loaded, by=by or "", **chosen, notify=say)
        line = f"{plural(count, 'answer')} read from {read_from}, {new} of them new"
        return _print_result({"answers": count, "new": new, "read": str(read_from)}, line, as_json)
    if by is None:
        raise SettingError("--as: name who labels, such as --as ann")
    if study is None:
        labels_named(names, labels_dir)  # a wrong name is reported also where the page cannot be served
    settings = {
        "source": None if source is None else str(source.absolute()),
        "labels": names,
        "labels_dir": None if labels_dir is None else str(labels_dir.absolute()),
        "study": None if study is None else str(study.absolute()),
        "answers": str(answers.absolute()),
        "by": by,
        "show_model": show_model,
        "user_only": user_only,
        "language": language,
        "limit": limit,
        "seed": seed,
        "order": order,
    }
    return _page(settings, port)


def _names(source: Path | None, labels: list[str] | None, study: Path | None) -> tuple[str, ...]:
    """Names of the labels; none for a study."""
    if study is not None:
        if source is not None or labels is not None:
            raise SettingError("--study: names its sources and what is asked: leave SRC and --labels out")
        return ()
    if source is None:
        raise SettingError("SRC is missing: give conversations to label, or --study FILE")
    names = tuple(names_in(labels or ()))
    if not names:
        raise SettingError("--labels: names none: give one or more, such as behaviour")
    return names


def _page(settings: dict[str, Any], port: int | None) -> int:
    """Serve the page until it is interrupted."""
    from ...studies.labelling import LabellingSettings
    from ...studies.side_by_side import work_of
    from .label_server import free_port, serve

    of_extra("streamlit", "ui")  # before the work, which makes the folder of the answers
    if port is not None:
        free_port(port)
    work = work_of(LabellingSettings.model_validate(settings))  # what is wrong is said here, in one line
    say(*work.notes)
    waiting = len(work.waiting)
    work.answers.close()
    progress_line = (
        f"{waiting} of {len(work.items)} to label as {work.by}; answers are saved in {work.answers.folder}; Ctrl-C ends"
    )
    serve(dumps(settings), port, progress_line)
    return 0


def _released(study: Path | None, folder: Path, by: str, as_json: bool) -> int:
    """Take what a person has begun and not finished from them."""
    from ...studies.side_by_side import release

    if study is None:
        raise SettingError("--release: gives what was begun of a study to others: name its file with --study")
    begun = release(study, folder, by)
    others = begun.of - begun.answered
    line = f"{others} of the {begun.of} conversations that {by} has begun are given to others; {begun.answered} are answered"
    return _print_result({"released": by, "begun": begun.of, "answered": begun.answered}, line, as_json)


def _print_result(result: dict[str, Any], line: str, as_json: bool) -> int:
    if as_json:
        print_json(result)
    else:
        put(line)
    return 0
