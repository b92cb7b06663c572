"""`duologue simquac baseline`: the rule-based speakers, measured on people's questions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ...data import DataError
from ...data import simquac as simquac_format
from ...data.records import Record
from ..options.shared import seed_of
from ..output.tables import PRINTED, TableOutput


def baseline_command(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A QuAC file: people's questions with their answers.")],
    seed: Annotated[int, seed_of("the simulations")] = 0,
    output: TableOutput = PRINTED,
) -> int:
    """Measure the rule-based teacher and student.

    The offline teacher on people's questions, and the offline student with that teacher.
    """
    from ... import graphs, runs
    from ...analysis import Table
    from ...analysis.simquac import first_sentence, random_sentence, score_student, score_teacher
    from ...analysis.simquac.answers import answered_by
    from ...nodes.limits import Limits
    from ...nodes.simquac.roles import next_question

    references = simquac_format.read(source)
    topics = simquac_format.read_topics(source)
    if not references:
        raise DataError(f"{source}: holds no conversation: give a QuAC file")
    scenarios = graphs.simquac.scenarios(topics)

    def simulated(cast: graphs.Cast) -> list[Any]:
        return runs.simulate(cast, scenarios, limits=Limits(seed=seed))

    plain = graphs.simquac.cast()
    teachers = [
        score_teacher("offline", simulated(graphs.simquac.cast(user=f"replay:{source}")), references),
        score_teacher("first sentence", answered_by(first_sentence, references), references),
        score_teacher("random sentence", answered_by(random_sentence, references), references),
    ]
    students = [
        score_student("offline", simulated(plain)),
        score_student(
            "offline, no prompt selector", simulated(plain.replace(user_prompt_selector=next_question(plain.prompts)))
        ),
    ]
    rows: dict[str, Sequence[Record]] = {"teachers": teachers, "students": students}
    output.give(
        {name: [row.model_dump(mode="json") for row in group] for name, group in rows.items()},
        [Table.across("Teachers on people's questions", teachers), Table.across("Students", students)],
    )
    return 0
