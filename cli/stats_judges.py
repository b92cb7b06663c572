"""`duologue stats judges`: judges of satisfaction against people."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..data import DataError
from ..data.loading import Loaded
from ..errors import DuologueError, SettingError, at
from .asking import OPTIONS, Kept, ask_models, check_kept, silent
from .options import extended
from .output import say
from .overwriting import check_outside, check_unread
from .run_options import RunOptions, Yes
from .tables import AsJson, Force, Form, Out, check_given, give, read_whole

if TYPE_CHECKING:  # needs an extra, and `--help` need not wait for it
    from ..analysis.judges import Judge, JudgedTurn
    from ..data.records import Conversation


@extended(OPTIONS)
def judges(
    source: Annotated[
        Path,
        typer.Argument(metavar="SRC", help="Conversations whose users say how satisfied they are with each reply."),
    ],
    asked: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="SPEC",
            help="A judge to measure, may be given more than once: openai:NAME, PROVIDER:NAME, or MODULE:NAME, a function of a "
            "conversation that gives a number from 1 to 5 for each reply, or an annotator as of duologue annotate.",
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--labels",
            metavar="NAME",
            help="A judge whose points are a label of the replies, in SRC or in --annotated. May be given more than once.",
        ),
    ] = None,
    annotated: Annotated[
        Path | None,
        typer.Option(
            "--annotated",
            metavar="SRC2",
            help="A copy of SRC whose labels are a judge's, matched by path or id. Default label: that of --label.",
        ),
    ] = None,
    label: Annotated[str, typer.Option(help="Label in which SRC has what people say of a reply.")] = "satisfaction",
    split: Annotated[
        Literal["users", "published"],
        typer.Option(
            help="users: whole users are held out, in five folds; published: a fifth of the turns at random, most of whose "
            "conversations stand in training too."
        ),
    ] = "users",
    page: Annotated[
        Path | None, typer.Option(help="Page that a model of --judge is asked with, in place of the shipped one.")
    ] = None,
    labels_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with the page of --label, where it is your own: for an annotator of --judge."),
    ] = None,
    kept: Kept = None,
    seed: Annotated[int, typer.Option(help="Seed of the users that are drawn for intervals.")] = 0,
    yes: Yes = False,
    as_json: AsJson = False,
    form: Form = "rich",
    out: Out = None,
    force: Force = False,
    **values: Any,
) -> int:
    """Measure judges of satisfaction against what people say: kappa, error, AUC of dissatisfaction, concordance.

    Exit code 1: a model of --judge said nothing of some turns.
    """
    from ..analysis.judges import judged_turns, measure_judges
    from ..analysis.judges.folds import published
    from ..analysis.judges.reasons import given_reasons
    from ..analysis.judges.turns import source_notes
    from ..analysis.trust import Trusts
    from ..runs.label_origins import annotated_keys, annotated_replies

    options = RunOptions(**values, yes=yes, as_json=as_json)
    check_given(out, as_json=as_json, form=form, force=force)
    check_unread(kept)
    check_outside(kept, source)
    check_kept(kept, asked or (), "--judge")
    loaded = read_whole(source)
    for note in loaded.notes:
        say(note)
    turns = judged_turns(loaded.conversations, label)
    for note in source_notes(loaded.conversations, label):
        say(note)
    if written := annotated_replies(source, loaded.conversations, label):
        told = [turn for turn in turns if (turn.id, turn.turn) not in written]
        if len(told) < len(turns):
            say(
                f"{len(turns) - len(told)} of {len(turns)} {label!r} were written by duologue annotate, no person said them: left out"
            )
        if turns and not told:
            raise DataError(
                f"{at(source)}: duologue annotate wrote every {label!r} there: nobody said it, so there is nothing to "
                "measure judges by: give the conversations with people's own, and this as --annotated"
            )
        turns = tuple(told)
    if not turns:
        raise DataError(
            f"{at(source)}: no reply has a label {label!r} of 1 to 5: give conversations whose users say how satisfied "
            "they are, such as people's second study of RecLLMSim, or name the label (--label)"
        )
    judges, reasons = _told(source, loaded, labels or [], annotated, label)
    tested = [turns[place] for place in published(turns).tested] if split == "published" else turns
    with options.surroundings():
        further, failed = _asked(
            list(dict.fromkeys(asked or ())), loaded, tested, page, label, labels_dir, kept, options
        )
    judges += further
    said = {name: given_reasons(told) for name, told in reasons.items()}
    trust = Trusts.of(loaded.conversations, annotated_keys(source)).note(label, of_messages=True)
    report = measure_judges(turns, judges, split=split, reasons_said=said, seed=seed, trust=trust)
    tables = report.narrow() if form == "rich" else report.tables()
    give(report.to_json(), tables, as_json=as_json, form=form, out=out, force=force)
    return 1 if failed or loaded.broken else 0


def _told(
    source: Path, loaded: Loaded, labels: list[str], annotated: Path | None, label: str
) -> "tuple[list[Judge], dict[str, dict[tuple[str, int], str]]]":
    """The judges whose points are labels, and the reasons that an annotated copy tells."""
    from ..analysis.judges import given, labelled
    from ..analysis.judges.reasons import labelled_reasons

    if annotated is None:
        if label in labels:
            raise SettingError(f"--labels {label}: is what people say: name another label, or give --annotated")
        told, where = loaded, str(source)
    else:
        told, where = read_whole(annotated), str(annotated)
        for note in told.notes:
            say(f"{annotated}: {note}")
    judges = []
    for name in dict.fromkeys(labels or ([] if annotated is None else [label])):
        points = labelled(told.conversations, name)
        if not points:
            raise DataError(f"{at(where)}: no reply has a label {name!r} of 1 to 5: give its name as it stands there")
        judges.append(given(name if annotated is None else f"{annotated.name}: {name}", points))
    reasons = {} if annotated is None else labelled_reasons(told.conversations)
    return judges, {f"{annotated.name}: reason": reasons} if annotated is not None and reasons else {}


def _asked(
    specs: list[str],
    loaded: Loaded,
    turns: "Sequence[JudgedTurn]",
    page: Path | None,
    label: str,
    labels_dir: Path | None,
    kept: Path | None,
    options: RunOptions,
) -> "tuple[list[Judge], int]":
    """The judges of specs, and of how many turns models could say nothing."""
    from ..analysis.judges import given
    from ..nodes.import_path import imported, is_import_path
    from ..nodes.models.specs import names_model
    from ..runs.judging import Reply, judging

    functions: dict[str, Any] = {}
    for spec in specs:
        if spec.partition("?")[0] == "offline":
            raise SettingError(
                f"--judge {spec}: the offline model can only speak, not judge, and the offline annotator has a row without "
                "being asked for: give openai:NAME, or MODULE:NAME"
            )
        if is_import_path(spec) and not names_model(spec):
            functions[spec] = imported(spec, "--judge")
            if not callable(functions[spec]):
                raise SettingError(
                    f"--judge {spec}: is no function: give one that takes a conversation, or an annotator"
                )
    replies = [Reply(loaded.conversations[turn.conversation], turn.turn) for turn in turns]
    models = {spec: judging(spec, replies, page) for spec in specs if spec not in functions}
    said = ask_models(models, "turns", kept=kept, options=options)
    judges, failed = [], 0
    for spec in specs:
        if spec in functions:
            judges.append(_by_function(spec, functions[spec], _judged_ones(loaded, turns), label, labels_dir))
            continue
        failed += silent(said[spec], spec, "--judge", "turn", they="are left out of its row")
        points = zip(turns, said[spec], strict=True)
        judges.append(given(spec, {(turn.path, turn.turn): float(one.points) for turn, one in points if one.points}))
    return judges, failed


def _by_function(
    spec: str, function: Any, conversations: "list[Conversation]", label: str, labels_dir: Path | None
) -> "Judge":
    """The judge that is a function of a conversation, or an annotator as `duologue annotate` takes it."""
    from ..analysis.judges import asked, given, labelled
    from ..analysis.judges.turns import without_labels
    from ..nodes.annotators import Annotator, takes_label
    from ..nodes.environment import error_line
    from ..prompts.label_pages import labels_named
    from ..runs.annotated_copies import annotate

    if isinstance(function, Annotator) or takes_label(function):
        (page,) = labels_named([label], labels_dir)
        talks = [without_labels(conversation) for conversation in conversations]
        points = labelled(annotate(talks, [page], function, votes=1), label)
        if not points:
            raise DataError(f"--judge {spec}: gives no reply a {label!r} of 1 to 5")
        return given(spec, points)
    try:
        return asked(spec, function, conversations)
    except DuologueError:
        raise
    except Exception as error:
        raise DataError(f"--judge {spec}: failed: {error_line(error)}") from error


def _judged_ones(loaded: Loaded, turns: "Sequence[JudgedTurn]") -> "list[Conversation]":
    """The conversations with a turn to judge."""
    return [loaded.conversations[place] for place in dict.fromkeys(turn.conversation for turn in turns)]
