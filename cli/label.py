"""`duologue label`: people label conversations on a page in the browser."""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from ..data.formats.answers import read, write
from ..data.formats.jsonfiles import dumps
from ..data.side_by_side import ONBOARDING, STUDY, strange
from ..errors import DataError, SettingError, of_extra
from ..views.pages import plural
from .output import print_json, put, say
from .overwriting import check_free
from .tables import read_whole


def label(
    source: Annotated[
        Path | None, typer.Argument(metavar="SRC", help="Conversations to label: a run or a data set of any format.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", metavar="NAME,NAME", help="What to label: names of labels (docs/labels.md)."),
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="In place of SRC and --labels: a side-by-side study, a YAML file (docs/labelling.md)."
        ),
    ] = None,
    by: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Who labels. Each person has a file.")] = None,
    answers: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the answers.")] = Path("answers"),
    labels_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Pages of labels of your own, one Markdown file each.")
    ] = None,
    show_model: Annotated[
        Literal["after", "never", "before"],
        typer.Option(help="When the data's own label is shown. Who sees it before answering agrees with it too often."),
    ] = "after",
    user_only: Annotated[bool, typer.Option("--user-only", help="Begin with the user's messages alone.")] = False,
    language: Annotated[
        str, typer.Option(help="Language of the messages at first: as stored, en, zh, or both.")
    ] = "as stored",
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Label N things in all: what this person has answered, then what comes next (a study: trials and all).",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the order of what is disputed alike.")] = 0,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of the page. Default: the first free one from 8501 on.")
    ] = None,
    give: Annotated[
        Path | None,
        typer.Option(
            "--write",
            metavar="FILE",
            help="No page: write everybody's answers as .csv, .jsonl, or .json for Label Studio.",
        ),
    ] = None,
    take: Annotated[
        Path | None,
        typer.Option(
            "--read",
            metavar="FILE",
            help="No page: take answers from such a file; --as says whose they are where it does not.",
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            "--into",
            metavar="DIR",
            help="No page: write a copy of SRC with people's labels, beside those that it has (strategy_human_V1, KEY_human).",
        ),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="No page: give to others what this person has begun of a study and not finished. Their answers stay.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file of --write, or the copy of --into, if it is there.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON on stdout.")] = False,
) -> int:
    """Label conversations on a page in the browser: what is disputed first, saved at each answer, with undo."""
    from ..prompts.label_pages import labels_named
    from ..views.labelling import Shown

    if language not in get_args(Shown):
        raise SettingError(f"--language {language}: give one of {', '.join(get_args(Shown))}")
    if sum(each is not None for each in (give, take, into, release)) > 1:
        raise SettingError("--write, --read, --into and --release exclude each other: give one")
    names = _names(source, labels, study)
    if release is not None:
        return _released(study, answers, release, as_json)
    known = {one.name: one for one in labels_named(names, labels_dir)}
    if give is not None:
        check_free(give, force=force)
        conversations = {} if source is None else {each.id: each for each in read_whole(source).conversations}
        given = [one for one in _everybodys(answers) if one.label in (known if study is None else (STUDY, ONBOARDING))]
        write(given, give, known, conversations)
        return _said(
            {"answers": len(given), "written": str(give)}, f"{plural(len(given), 'answer')} written to {give}", as_json
        )
    if into is not None:
        if not force and into.is_dir() and any(into.iterdir()):
            raise DataError(f"{into}: exists: give --force to write the copy again, or another folder")
        if source is None:
            raise SettingError("--into: a study's answers are no labels: use --write, or stats preference")
        return _copied(source, answers, known, into, as_json)
    if take is not None:
        taken, new = _taken(take, by, answers, None if study is not None else known, source)
        line = f"{plural(taken, 'answer')} read from {take}, {new} of them new"
        return _said({"answers": taken, "new": new, "read": str(take)}, line, as_json)
    if by is None:
        raise SettingError("--as: say who labels, such as --as ann")
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
    }
    return _page(settings, port)


def _names(source: Path | None, labels: str | None, study: Path | None) -> tuple[str, ...]:
    """Names of the labels; none for a study."""
    if study is not None:
        if source is not None or labels is not None:
            raise SettingError("--study: names its sources and what is asked: leave SRC and --labels out")
        return ()
    if source is None:
        raise SettingError("SRC is missing: give conversations to label, or --study FILE")
    names = tuple(filter(None, (name.strip() for name in (labels or "").split(","))))
    if not names:
        raise SettingError("--labels: names none: give one or more, such as behaviour")
    return names


def _everybodys(folder: Path) -> list[Any]:
    from ..runs.answers import answers_of

    found = [answer for answers in answers_of(folder).values() for answer in answers]
    if not found:
        raise DataError(f"{folder}: holds no answers: label first, or name their folder with --answers")
    return found


def _copied(source: Path, folder: Path, labels: dict[str, Any], out: Path, as_json: bool) -> int:
    """Write the copy with people's labels."""
    from ..runs.answers import answers_of
    from ..runs.labelled_by_people import write_labelled_by_people

    _everybodys(folder)
    things, notes = write_labelled_by_people(read_whole(source), answers_of(folder), labels, out)
    for note in notes:
        say(note)
    return _said(
        {"labelled": things, "copy": str(out)},
        f"{plural(things, 'thing')} labelled by people, from {folder}, in {out}",
        as_json,
    )


def _taken(
    path: Path, by: str | None, folder: Path, labels: dict[str, Any] | None, source: Path | None
) -> tuple[int, int]:
    """Put the answers of a file into the folder, each under its person; gives their number, and how many are new.

    `labels`: what they have to be about, and values of; None: a study.
    """
    from ..runs.answers import Answers, name_of

    given = read(path, by or "", labels)
    of_file = {answer.by: name_of(answer.by) for answer in given}
    if len(set(of_file.values())) < len(of_file):
        raise DataError(f"{path}: two people would have the same file: give them names of A-Z a-z 0-9 _ -")
    given = [answer.model_copy(update={"by": of_file[answer.by]}) for answer in given]
    for number, answer in enumerate(given, start=1):
        if labels is not None and answer.label not in labels:
            raise DataError(f"{path}: answer {number}: is about {answer.label!r}: name it in --labels too")
        if labels is not None and (problems := labels[answer.label].problems(answer.value)):
            what = f"; beside by, conversation and message it has {', '.join(labels[answer.label].parts)}"
            expected = what if set(answer.value) - set(labels[answer.label].parts) else ""
            raise DataError(f"{path}: answer {number}: {problems[0]}: mend it{expected}")
        if labels is None and answer.label not in (STUDY, ONBOARDING):
            raise DataError(f"{path}: answer {number}: is about {answer.label!r}, no study: leave it out")
        if labels is None and (problem := strange(answer.value)):
            raise DataError(f"{path}: answer {number}: {problem}: say it of the sides")
        if not answer.by:
            raise DataError(f"{path}: answer {number}: does not say whose it is: give --as NAME")
    there = set() if source is None else {each.id for each in read_whole(source).conversations}
    if source is not None and (strangers := [answer for answer in given if answer.conversation not in there]):
        say(
            f"{path}: {strangers[0].conversation!r} and so on, in all {len(strangers)}, are not in {source}: kept all the same"
        )
    new = 0
    for person in dict.fromkeys(answer.by for answer in given):
        with Answers(folder, person) as answers:
            for answer in given:
                if answer.by == person and answers.standing.get(answer.key) != answer:
                    answers.put(answer)
                    new += 1
    return len(given), new


def _page(settings: dict[str, Any], port: int | None) -> int:
    """Serve the page until it is interrupted."""
    from .label_server import free_port, serve
    from .label_work import Settings
    from .study_work import work_of

    of_extra("streamlit", "ui")  # before the work, which makes the folder of the answers
    port = free_port(port)
    work = work_of(Settings.model_validate(settings))  # what is wrong is said here, in one line
    for note in work.notes:
        say(note)
    waiting = len(work.waiting)
    work.answers.close()
    told = (
        f"{waiting} of {len(work.items)} to label as {work.by}; answers are saved in {work.answers.folder}; Ctrl-C ends"
    )
    serve(dumps(settings), port, told)
    return 0


def _released(study: Path | None, folder: Path, by: str, as_json: bool) -> int:
    """Take what a person has begun and not finished from them."""
    from .study_work import release

    if study is None:
        raise SettingError("--release: gives what was begun of a study to others: name its file with --study")
    begun = release(study, folder, by)
    others = begun.of - begun.answered
    line = f"{others} of the {begun.of} conversations that {by} has begun are given to others; {begun.answered} are answered"
    return _said({"released": by, "begun": begun.of, "answered": begun.answered}, line, as_json)


def _said(told: dict[str, Any], line: str, as_json: bool) -> int:
    if as_json:
        print_json(told)
    else:
        put(line)
    return 0
