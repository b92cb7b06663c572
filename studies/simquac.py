"""The baselines of SimQuAC: teachers and students without a model, beside people's questions and answers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data import simquac
from ..errors import DataError

if TYPE_CHECKING:  # they need the extra `stats`, and the nodes bring LangGraph along
    from ..analysis.tables import TablesReport
    from ..graphs import Cast


def baseline(source: str | Path, seed: int = 0) -> "TablesReport":
    """The rule-based teacher on people's questions, beside its simplest like, and the rule-based student.

    Needs the extra `stats`. `source`: a file of QuAC; `seed`: of the simulations. DataError for a file without a
    conversation.
    """
    from .. import graphs, runs
    from ..analysis.simquac import answers as scored
    from ..analysis.tables import Table, TablesReport
    from ..nodes.limits import Limits
    from ..nodes.messages import selector

    references = simquac.read(source)
    if not references:
        raise DataError(f"{source}: holds no conversation: give a QuAC file")
    scenarios = graphs.simquac.scenarios(simquac.read_topics(source))

    def simulated(cast: "Cast") -> list[Any]:
        return list(runs.simulate(cast, scenarios, limits=Limits(seed=seed)))

    plain = graphs.simquac.cast()
    teachers = {
        "offline": simulated(graphs.simquac.cast(user=f"replay:{source}")),
        "first sentence": scored.answered_by(scored.first_sentence, references),
        "random sentence": scored.answered_by(scored.random_sentence, references),
    }
    unselected = plain.replace(user_prompt_selector=selector(lambda state: "user/next", plain.prompts))
    students = {"offline": simulated(plain), "offline, no prompt selector": simulated(unselected)}

    def table(title: str, talks: Mapping[str, Any], score: Callable[[Any], Any]) -> Table:
        return Table.across(title, {name: score(own).model_dump() for name, own in talks.items()})

    return TablesReport(
        by_name={
            "teachers": table(
                "Teachers on people's questions", teachers, lambda own: scored.score_teacher(own, references)
            ),
            "students": table("Students", students, scored.score_student),
        }
    )
