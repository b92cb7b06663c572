"""Folds of topics: a section, and everything under the same title, is in one fold in every data set."""

from collections.abc import Iterable, Mapping, Sequence

from ...data.identity import digest
from ...data.simquac import Question
from ...errors import DataError

FOLDS = 5


def folds_of(sets: Iterable[Sequence[Question]], folds: int = FOLDS, seed: int = 0) -> Mapping[str, int]:
    """The fold of each section, from 0, for all data sets together.

    Sections with the same title, case and white space aside, are one topic, and a section with several titles joins
    them. Topics are dealt out in the order of a digest of the seed and their sections, so folds differ by at most one
    topic. DataError if there are fewer topics than folds.
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    sections: dict[str, None] = {}
    for question in (question for questions in sets for question in questions):
        sections[question.section] = None
        title = " ".join(question.title.casefold().split())
        if title:
            one, other = sorted((root(f"section {question.section}"), root(f"title {title}")))
            parent[other] = one
    topics: dict[str, list[str]] = {}
    for section in sections:
        topics.setdefault(root(f"section {section}"), []).append(section)
    if len(topics) < folds:
        count = "1 topic is" if len(topics) == 1 else f"{len(topics)} topics are"
        advice = ", or fewer folds" if len(topics) > 2 < folds else ""
        raise DataError(f"{count} too few for {folds} folds: give conversations about more topics{advice}")
    order = sorted(topics.values(), key=lambda those: digest("folds", seed, sorted(those)))
    return {section: number % folds for number, those in enumerate(order) for section in those}
