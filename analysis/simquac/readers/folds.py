"""Folds of topics: a section, and everything under the same title, is in one fold in every data set."""

from collections.abc import Iterable, Mapping, Sequence

from ....data.identity import digest
from ....data.simquac import ReadingQuestion
from ....errors import DataError
from ...over_users.folds import FOLDS, in_turn, joined


def folds_of(sets: Iterable[Sequence[ReadingQuestion]], folds: int = FOLDS, seed: int = 0) -> Mapping[str, int]:
    """The fold of each section, from 0, for all data sets together.

    Sections with the same title, case and white space aside, are one topic, and a section with several titles joins
    them. Topics are dealt out in the order of a digest of the seed and their sections, so folds differ by at most one
    topic. DataError if there are fewer topics than folds.
    """
    titles: dict[tuple[str, str], None] = {}
    for question in (question for questions in sets for question in questions):
        titles[question.section, " ".join(question.title.casefold().split())] = None
    topic_of = joined((f"section {section}", f"title {title}") for section, title in titles if title)
    topics: dict[str, list[str]] = {}
    for section in dict.fromkeys(section for section, _ in titles):
        topics.setdefault(topic_of.get(f"section {section}", f"section {section}"), []).append(section)
    if len(topics) < folds:
        count = "1 topic is" if len(topics) == 1 else f"{len(topics)} topics are"
        advice = ", or fewer folds" if len(topics) > 2 < folds else ""
        raise DataError(f"{count} too few for {folds} folds: give conversations about more topics{advice}")
    order = sorted(map(tuple, topics.values()), key=lambda sections: digest("folds", seed, sorted(sections)))
    return {section: fold for sections, fold in in_turn(order, folds).items() for section in sections}
