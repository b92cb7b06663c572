"""Teachers on people's questions where a run has their answers: grounded at the first draft, F1, and when to refuse.

    python tools/held_teacher.py quac_subset.json out/read

The folder is that of `papers simquac readers quac_subset.json --model likelihood:MODEL --model grammar:MODEL --unanswerable all
--whole --journal out/read`; the run of a model may be unfinished. The threshold of `refuse_below` is chosen on the sections
of one half, where it gives the highest F1, and judged on those of the other.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import bootstrap

from duologue import Conversation, graphs, load
from duologue.analysis.simquac.readers import first, nearest, none, score_reader, scored
from duologue.data.simquac import ReadingQuestion, questions_of
from duologue.graphs.single_turn import answer_of
from duologue.runs.reading import read

Answers = Mapping[str, str | None]
"""By the question's id."""


def main(source: Path, folder: Path) -> None:
    """Print the tables of each run in the folder."""
    questions = questions_of(load(source).conversations, unanswerable=None)
    by_words = {(question.section, question.text): question for question in questions}
    for run in sorted(path.parent for path in folder.glob("*/conversations.jsonl")):
        conversations = {}
        for conversation in load(run).conversations:
            said = next(message.text for message in conversation.messages if message.role == "user")
            conversations[by_words[str(conversation.scenario["section"]), said].id] = conversation
        asked = [question for question in questions if question.id in conversations]
        drafts = [
            next(attempt for message in one.messages for attempt in message.attempts) for one in conversations.values()
        ]
        grounded = sum(draft.verdict == "accepted" for draft in drafts)
        print(f"\n{run.name}: {len(asked)} questions, grounded at the first draft {grounded}")
        teachers: dict[str, Answers] = {
            run.name.partition("_")[0]: {id: answer_of(one)[0] for id, one in conversations.items()}
        }
        for name, reader in (("no answer", none), ("first sentence", first), ("nearest sentence", nearest)):
            teachers[name] = dict(zip((one.id for one in asked), reader(asked), strict=True))
        rules = read(graphs.single_turn.teacher("offline"), asked).answers
        teachers["rule-based teacher"] = dict(zip((one.id for one in asked), rules, strict=True))
        show(teachers, asked)
        if run.name.startswith("likelihood"):
            thresholds(conversations, teachers, asked)


def thresholds(
    conversations: Mapping[str, Conversation], teachers: dict[str, Answers], asked: Sequence[ReadingQuestion]
) -> None:
    """The table over one half, with the refusals below the best threshold of the other."""
    sections = sorted({question.section for question in asked})
    halves = [[one for one in asked if sections.index(one.section) % 2 == half] for half in (0, 1)]
    likely = {id: one.messages[-1].labels.get("likelihood", 0.0) for id, one in conversations.items()}
    own = next(iter(teachers.values()))

    def refusing(below: float) -> Answers:
        return {id: None if likely[id] < below else answer for id, answer in own.items()}

    chosen, judged = halves
    tried = [-9.9, *sorted(likely[question.id] + 1e-9 for question in chosen)]
    best = max(tried, key=lambda below: score_reader("", chosen, answers(refusing(below), chosen)).f1)
    print(f"refuse_below={best:.3f}, chosen on {len(chosen)} questions, on the other {len(judged)}:")
    show({**teachers, "likelihood, refusing": refusing(best)}, judged)


def answers(given: Answers, asked: Sequence[ReadingQuestion]) -> list[str | None]:
    """Those to these questions, in their order."""
    return [given[question.id] for question in asked]


def show(teachers: Mapping[str, Answers], asked: Sequence[ReadingQuestion]) -> None:
    """A line for each teacher."""
    for name, given in teachers.items():
        print("  ".join(shown(name, given, teachers["first sentence"], asked)))


def shown(name: str, given: Answers, beside: Answers, asked: Sequence[ReadingQuestion]) -> Iterator[str]:
    """F1, its difference to the first sentence's with a 95 % interval over questions, and what was refused."""
    score = score_reader(name, asked, answers(given, asked), each_line=False)
    own, other = (np.array([scored(one[it.id], it, each_line=False).f1 for it in asked]) for one in (given, beside))
    yield f"{name:22} F1 {score.f1:.3f}"
    if (own != other).any():
        ends = bootstrap((own - other,), np.mean, rng=0).confidence_interval
        yield f"{(own - other).mean():+.3f} ({ends.low:+.3f} to {ends.high:+.3f})"
    yield f"answerable {score.f1_answerable or 0:.3f}"
    yield f"refusals right {score.refused_right} wrong {score.refused_wrong}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
