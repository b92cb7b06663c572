"""`duologue recllmsim satisfaction`: satisfaction, predicted from words."""

from typing import Annotated, Literal

from ...data import DataError
from ...data.text.terminal import names_in
from ...errors import SettingError, at
from ...studies.recllmsim.satisfaction_judges import unrated
from ...studies.sources import MOST_DRAWN
from ..options.sections import BOUNDS
from ..options.shared import Draw, RatedSource, Seeds, Trees, label_rated, option, seed_of
from ..output.tables import PRINTED, TableOutput, read_drawn
from ..streams import say, stderr
from .text_models import MODELS, Models, SplitOption, label_trust


def satisfaction_command(
    source: RatedSource,
    target: Annotated[
        list[str] | None,
        option(
            "Predict only these; may be repeated. Levels: five (1 to 5), points (the same as a number), binary (3 "
            "or less). "
            "Others: reasons (of dissatisfaction), six (a reason, or satisfied), pairs (the better of two replies). "
            "Default: all.",
            metavar="NAME,...",
        ),
    ] = None,
    text: Annotated[
        Literal["talk", "reply"],
        option(
            "Read the whole conversation (profile, task and all messages up to the reply, as published), or only "
            "the reply."
        ),
    ] = "talk",
    following: Annotated[bool, option("Read the user's next message too.", "--following")] = False,
    label: Annotated[str, label_rated()] = "satisfaction",
    split: SplitOption = "users",
    model: Models = None,
    seeds: Seeds = 1,
    trees: Trees = 100,
    draw: Draw = MOST_DRAWN,
    seed: Annotated[int, seed_of("the users that are drawn", BOUNDS)] = 0,
    output: TableOutput = PRINTED,
) -> int:
    """Predict satisfaction from words.

    It predicts 1 to 5, a number, dissatisfaction, its reason, or the better of two replies.
    """
    from ...analysis.recllmsim.identification.values import learner
    from ...analysis.recllmsim.satisfaction import measure_satisfaction, told_turns
    from ...analysis.recllmsim.satisfaction.report import TASKS, SatisfactionTask

    targets = names_in(target or ())
    if odd := [name for name in targets if name not in TASKS]:
        raise SettingError(f"--target {odd[0]}: is not a target: give {', '.join(TASKS)}")
    tasks: list[SatisfactionTask] = [name for name in TASKS if not targets or name in targets]
    for name in model or ():
        learner(name)
    output.check()
    loaded = read_drawn(source, draw, seed)
    say(*loaded.notes)
    with stderr.status("cuts texts into words"):
        turns = told_turns(list(loaded.conversations), text, following=following, label=label)
    if not turns:
        raise unrated(source, label)
    with stderr.status("begins") as status:
        report = measure_satisfaction(
            turns,
            model or MODELS,
            tasks=tasks,
            split=split,
            reads=f"{text} and next message" if following else text,
            trees=trees,
            seeds=seeds,
            trust=label_trust(loaded, label),
            watch=status.update,
        )
    if not report.scores.rows:
        raise DataError(
            f"{at(source)}: {len(turns)} labelled replies of {len({turn.judged.user for turn in turns})} users are "
            "too few, or "
            f"too much alike, for {', '.join(tasks)}: give conversations of more users"
        )
    output.show(report)
    return 1 if loaded.broken else 0
