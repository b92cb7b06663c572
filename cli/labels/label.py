"""`duologue label`: people label conversations on a page in the browser."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ...data.files.json import dumps
from ...data.text.terminal import names_in
from ...errors import SettingError, of_extra
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
    order: Annotated[
        Literal["disputed", "random"],
        option("Order items by annotator disagreement, or at random by the seed: then the first are a random share."),
    ] = "disputed",
    seed: Annotated[int, seed_of("the random order, also among items of equal disagreement")] = 0,
    show_model: Annotated[
        Literal["after", "never", "before"],
        option("Show the data's own label after the answer, never, or before it, which biases labellers towards it."),
    ] = "after",
    user_only: Annotated[bool, option("Show only the user's messages at first.", "--user-only")] = False,
    show_language: Annotated[
        Literal["as stored", "en", "zh", "both"], option("Show the messages in this language at first.")
    ] = "as stored",
    port: Annotated[
        int | None,
        option("Serve the page at this port. Default: the first free one from 8501.", min=1, max=65535),
    ] = None,
    out: Annotated[
        Path | None, out_to("this folder people's labels of SRC (style_human, KEY_human), in place of the page.")
    ] = None,
    write_to: Annotated[
        Path | None,
        option("Write all people's answers as JSON lines, in place of the page.", "--write", metavar="FILE"),
    ] = None,
    read_from: Annotated[
        Path | None,
        option(
            "Read answers from such a file; --as names their person if the file does not.", "--read", metavar="FILE"
        ),
    ] = None,
    force: Annotated[bool, force_for("the file of --write, or the labels of --out")] = False,
    as_json: Annotated[bool, json_of("what was written or read")] = False,
) -> int:
    """Label conversations by hand, on a page in the browser.

    Items with annotator disagreement come first; each answer is saved at once, and can be undone.
    """
    from ...data.labels.table import LABELS
    from ...prompts.label_pages import labels_named
    from ...studies.people_answers import export_answers, import_answers, people_labels

    if sum(path is not None for path in (write_to, read_from, out)) > 1:
        raise SettingError("--write, --read and --out exclude each other: give one")
    names = _names(source, labels, study)
    chosen: dict[str, Any] = {"labels": names if study is None else None, "labels_dir": labels_dir}
    if write_to is not None:
        check_free(write_to, force=force)
        count = export_answers(answers, write_to, **chosen)
        return _said({"answers": count, "written": str(write_to)}, as_json)
    if read_from is not None:
        count, new = import_answers(read_from, answers, by=by or "", **chosen)
        return _said({"answers": count, "new": new, "read": str(read_from)}, as_json)
    if out is not None:
        if source is None:
            raise SettingError("--out: a study's answers are not labels: use --write, or papers recllmsim preference")
        check_free(out / LABELS, force=force)
        table = people_labels(read_source(source), answers, out, **chosen, notify=say)
        return _said({"labelled": len(table.rows), "labels": str(out)}, as_json)
    if by is None:
        raise SettingError("--as: name who labels, such as --as ann")
    if study is None:
        labels_named(names, labels_dir)  # a wrong name is reported also where the page cannot be served
    settings = {
        "source": None if source is None else source.absolute(),
        "labels": names,
        "labels_dir": None if labels_dir is None else labels_dir.absolute(),
        "study": None if study is None else study.absolute(),
        "answers": answers.absolute(),
        "by": by,
        "show_model": show_model,
        "user_only": user_only,
        "language": show_language,
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
    serve(
        dumps({name: str(value) if isinstance(value, Path) else value for name, value in settings.items()}),
        port,
        f"{waiting} of {len(work.items)} to label as {work.by}; answers are saved in {work.answers.folder}; Ctrl-C ends",
    )
    return 0


def _said(result: dict[str, Any], as_json: bool) -> int:
    """Print a result: as JSON, or each value behind its name."""
    if as_json:
        print_json(result)
    else:
        put("; ".join(f"{name}: {value}" for name, value in result.items()))
    return 0
