"""`duologue recllmsim judges`: judges of satisfaction against people."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ...data import DataError
from ...data.loading import Loaded
from ...data.text.terminal import names_in
from ...errors import DuologueError, SettingError, at
from ..options.model_fields import extended
from ..options.run import RunOptions
from ..options.shared import (
    LabelsDir,
    NoSeed,
    Yes,
    label_rated,
    labels_named,
    model_for,
    option,
    split_by,
)
from ..output.tables import PRINTED, TableOutput, read_whole
from ..running.asking import OPTIONS, JournalOption, ask_models, check_journal, silent
from ..streams import say
from .text_models import unrated

if TYPE_CHECKING:  # needs an extra, and `--help` need not wait for it
    from ...analysis.recllmsim.judges import Judge, JudgedTurn
    from ...data.records import Conversation


@extended(OPTIONS)
def judges_command(
    source: Annotated[
        Path,
        typer.Argument(metavar="SRC", help="Conversations whose users rate their satisfaction with each reply."),
    ],
    model: Annotated[
        list[str] | None,
        model_for(
            "as a judge to measure: openai:NAME, PROVIDER:NAME, or MODULE:NAME. That is "
            "an annotator as of duologue annotate, or a function that returns a number from 1 to 5 for each reply. May be repeated."
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        labels_named("to measure as judges: points of the replies in SRC or in --annotated."),
    ] = None,
    annotated: Annotated[
        Path | None,
        option(
            "Read a judge's labels from this copy of SRC, matched by path or id. Default label: that of --label.",
            "--annotated",
            metavar="SRC2",
        ),
    ] = None,
    label: Annotated[str, label_rated()] = "satisfaction",
    split: Annotated[
        Literal["users", "published"],
        split_by("a fifth of the turns at random, most of whose conversations are in training too."),
    ] = "users",
    template: Annotated[
        Path | None,
        option("Ask models with this prompt template, in place of the shipped one.", metavar="FILE"),
    ] = None,
    journal: JournalOption = None,
    labels_dir: LabelsDir = None,
    seed: NoSeed = 0,
    yes: Yes = False,
    output: TableOutput = PRINTED,
    **values: Any,
) -> int:
    """Measure judges of satisfaction against people.

    Kappa, error, AUC of dissatisfaction, concordance. Exit code 1: a model gave no rating of some turns.
    """
    from ...analysis.labels.reliability import Trusts
    from ...analysis.recllmsim.judges import judged_turns, measure_judges
    from ...analysis.recllmsim.judges.folds import published
    from ...analysis.recllmsim.judges.reasons import given_reasons
    from ...analysis.recllmsim.judges.turns import source_notes
    from ...runs.labels.origins import annotated_replies

    options = RunOptions(**values, yes=yes, as_json=output.json)
    output.check()
    check_journal(journal, (source,), model or (), "--model")
    loaded = read_whole(source)
    say(*loaded.notes)
    turns = judged_turns(loaded.conversations, label)
    say(*source_notes(loaded.conversations, label))
    if written := annotated_replies(source, loaded.conversations, label):
        of_people = [turn for turn in turns if (turn.id, turn.turn) not in written]
        if len(of_people) < len(turns):
            say(
                f"{len(turns) - len(of_people)} of {len(turns)} {label!r} were written by duologue annotate, not by a person: left out"
            )
        if turns and not of_people:
            raise DataError(
                f"{at(source)}: duologue annotate wrote every {label!r} there: no person wrote it, so it cannot "
                "measure judges: give the conversations with people's own, and this as --annotated"
            )
        turns = tuple(of_people)
    if not turns:
        raise unrated(source, label)
    names = names_in(labels or ())
    judges, reasons = _label_judges(source, loaded, names, annotated, label)
    tested = [turns[place] for place in published(turns).tested] if split == "published" else turns
    with options.surroundings():
        further, failed = _model_judges(
            list(dict.fromkeys(model or ())), loaded, tested, template, label, labels_dir, journal, options
        )
    judges += further
    reason_counts = {name: given_reasons(of_judge) for name, of_judge in reasons.items()}
    trust = Trusts.of(loaded).note(label, of_messages=True)
    report = measure_judges(turns, judges, split=split, reasons_said=reason_counts, seed=seed, trust=trust)
    output.show(report)
    return 1 if failed or loaded.broken else 0


def _label_judges(
    source: Path, loaded: Loaded, labels: list[str], annotated: Path | None, label: str
) -> "tuple[list[Judge], dict[str, dict[tuple[str, int], str]]]":
    """The judges whose points are labels, and the reasons that an annotated copy tells."""
    from ...analysis.recllmsim.judges import judge_of_points, labelled
    from ...analysis.recllmsim.judges.reasons import labelled_reasons

    if annotated is None:
        if label in labels:
            raise SettingError(f"--labels {label}: is people's own label: name another label, or give --annotated")
        rated, where = loaded, str(source)
    else:
        rated, where = read_whole(annotated), str(annotated)
        for note in rated.notes:
            say(f"{annotated}: {note}")
    judges = []
    for name in dict.fromkeys(labels or ([] if annotated is None else [label])):
        points = labelled(rated.conversations, name)
        if not points:
            raise DataError(f"{at(where)}: no reply has a label {name!r} of 1 to 5: give its name as it stands there")
        judges.append(judge_of_points(name if annotated is None else f"{annotated.name}: {name}", points))
    reasons = {} if annotated is None else labelled_reasons(rated.conversations)
    return judges, {f"{annotated.name}: reason": reasons} if annotated is not None and reasons else {}


def _model_judges(
    specs: list[str],
    loaded: Loaded,
    turns: "Sequence[JudgedTurn]",
    page: Path | None,
    label: str,
    labels_dir: Path | None,
    journal: Path | None,
    options: RunOptions,
) -> "tuple[list[Judge], int]":
    """The judges of specs, and of how many turns models could say nothing."""
    from ...analysis.recllmsim.judges import judge_of_points
    from ...nodes.models.specs import names_model
    from ...nodes.settings.import_path import imported, is_import_path
    from ...runs.asking.reply_satisfaction import JudgedReply, judging

    functions: dict[str, Any] = {}
    for spec in specs:
        if spec.partition("?")[0] == "offline":
            raise SettingError(
                f"--model {spec}: the offline model cannot judge, and the offline annotator has a row without "
                "being asked for: give openai:NAME, or MODULE:NAME"
            )
        if is_import_path(spec) and not names_model(spec):
            functions[spec] = imported(spec, "--model")
            if not callable(functions[spec]):
                raise SettingError(
                    f"--model {spec}: is not a function: give one that takes a conversation, or an annotator"
                )
    replies = [JudgedReply(loaded.conversations[turn.conversation], turn.turn) for turn in turns]
    models = {spec: judging(spec, replies, page) for spec in specs if spec not in functions}
    answers_of = ask_models(models, "turns", journal=journal, options=options)
    judges, failed = [], 0
    for spec in specs:
        if spec in functions:
            judges.append(_by_function(spec, functions[spec], _judged_ones(loaded, turns), label, labels_dir))
            continue
        failed += silent(answers_of[spec], spec, "--model", "turn", they="are left out of its row")
        points = zip(turns, answers_of[spec], strict=True)
        judges.append(
            judge_of_points(spec, {(turn.path, turn.turn): float(one.points) for turn, one in points if one.points})
        )
    return judges, failed


def _by_function(
    spec: str, function: Any, conversations: "list[Conversation]", label: str, labels_dir: Path | None
) -> "Judge":
    """The judge that is a function of a conversation, or an annotator as `duologue annotate` takes it."""
    from ...analysis.recllmsim.judges import judge_of_function, judge_of_points, labelled
    from ...analysis.recllmsim.judges.turns import without_labels
    from ...nodes.annotators.kinds import Annotator, takes_label
    from ...nodes.settings.redaction import error_line
    from ...prompts.label_pages import labels_named
    from ...runs.labels.copies import annotate

    if isinstance(function, Annotator) or takes_label(function):
        (page,) = labels_named([label], labels_dir)
        talks = [without_labels(conversation) for conversation in conversations]
        points = labelled(annotate(talks, [page], function, votes=1), label)
        if not points:
            raise DataError(f"--model {spec}: gives no reply a {label!r} of 1 to 5")
        return judge_of_points(spec, points)
    try:
        return judge_of_function(spec, function, conversations)
    except DuologueError:
        raise
    except Exception as error:
        raise DataError(f"--model {spec}: failed: {error_line(error)}") from error


def _judged_ones(loaded: Loaded, turns: "Sequence[JudgedTurn]") -> "list[Conversation]":
    """The conversations with a turn to judge."""
    return [loaded.conversations[place] for place in dict.fromkeys(turn.conversation for turn in turns)]
