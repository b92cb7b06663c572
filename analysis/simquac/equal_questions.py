"""Coverage at an equal number of questions: of two conversations about a section, the first k questions of each.

A student who asks more gets more answers. So sources whose conversations differ in length are compared twice: over all
questions, and over the first k. Here k is the smaller number of questions of the pair. Questions count, not answers: a
question that is refused is spent, and how many are refused is part of what is compared.
"""

from collections.abc import Hashable, Iterable, Sequence
from statistics import fmean

from ...data.people import Pairing, paired, topic_key
from ...data.records import Conversation, Record
from ..over_users.comparison import PairedComparison, compare_pairs
from ..tables import Cell, Column, Table
from .samples import ConversationNumbers, Sample


class CoverageAfter(Record):
    """Mean coverage after a question, over the pairs in which both sides ask that many."""

    question: int
    """From 1."""
    pairs: int
    coverage_a: float
    coverage_b: float


class EqualQuestions(Record):
    """Coverage of two sources, their conversations paired by section."""

    a: str
    b: str
    pairs: int
    questions_a: float | None
    """Mean number of questions of a conversation of the pairs."""
    questions_b: float | None
    k: float | None
    """Mean over pairs of the smaller number of questions."""
    all_questions: PairedComparison
    """Coverage over all questions."""
    first_k: PairedComparison
    """Coverage over the first k questions on either side."""
    gap_left: float | None
    """Difference at the first k over that at all questions; None where the interval of the latter holds 0."""
    by_question: tuple[CoverageAfter, ...]
    """Coverage after question 1, 2, ..., up to the largest k."""
    notes: tuple[str, ...] = ()
    """Conversations that are left out, and what is missing."""


def at_equal_questions(
    a: Sample, b: Sample, of_a: Sequence[Conversation], of_b: Sequence[Conversation]
) -> EqualQuestions:
    """Two samples with the conversations that they measure, in the same order, paired. Needs the extra `stats`."""
    pairing = paired(of_a, of_b)
    by_object = {
        id(conversation): numbers
        for sample, conversations in ((a, of_a), (b, of_b))
        for conversation, numbers in zip(conversations, sample.conversations, strict=True)
    }
    both = [(by_object[id(one)], by_object[id(other)]) for one, other in pairing.pairs]
    # Where nothing is asked k is 0, and at no question everybody is equal.
    fit = [all(side.coverage_by_question for side in pair) for pair in both]
    pairs = [pair for pair, fits in zip(both, fit, strict=True) if fits]
    least = [min(one.questions, other.questions) for one, other in pairs]
    every = [[side.coverage_by_question[-1] for side in sides] for sides in _sides(pairs)]
    first = [
        [side.coverage_by_question[k - 1] for side, k in zip(sides, least, strict=True)] for sides in _sides(pairs)
    ]
    questions = [[side.questions for side in sides] for sides in _sides(pairs)]
    sections = [topic_key(one) for (one, _), fits in zip(pairing.pairs, fit, strict=True) if fits]
    over_all, over_first = (compare_pairs(one, other, sections) for one, other in (every, first))
    gap_left = _gap_left(over_all, over_first)
    return EqualQuestions(
        a=a.source,
        b=b.source,
        pairs=len(pairs),
        questions_a=fmean(questions[0]) if pairs else None,
        questions_b=fmean(questions[1]) if pairs else None,
        k=fmean(least) if pairs else None,
        all_questions=over_all,
        first_k=over_first,
        gap_left=gap_left,
        by_question=tuple(_after(number, pairs) for number in range(1, max(least, default=0) + 1)),
        notes=(
            *_notes(a.source, b.source, pairing, both, fit, sections, gap_left),
            *(note for sample, of in ((a, of_a), (b, of_b)) for note in _repeated(sample.source, of)),
        ),
    )


def _sides(
    pairs: Sequence[tuple[ConversationNumbers, ConversationNumbers]],
) -> tuple[list[ConversationNumbers], list[ConversationNumbers]]:
    return [one for one, _ in pairs], [other for _, other in pairs]


def _gap_left(over_all: PairedComparison, over_first: PairedComparison) -> float | None:
    if over_all.low is None or over_all.high is None or over_all.low <= 0 <= over_all.high:
        return None
    if over_all.difference is None or over_first.difference is None:
        return None
    return over_first.difference / over_all.difference


def _after(number: int, pairs: Sequence[tuple[ConversationNumbers, ConversationNumbers]]) -> CoverageAfter:
    long = [pair for pair in pairs if min(side.questions for side in pair) >= number]
    one, other = (fmean(side.coverage_by_question[number - 1] for side in sides) for sides in _sides(long))
    return CoverageAfter(question=number, pairs=len(long), coverage_a=one, coverage_b=other)


def _notes(
    a: str,
    b: str,
    pairing: Pairing,
    both: Sequence[tuple[ConversationNumbers, ConversationNumbers]],
    fit: Sequence[bool],
    sections: Sequence[Hashable],
    gap_left: float | None,
) -> Iterable[str]:
    """The conversations that are left out with the reasons, and the assumptions of the tests."""
    bare = sum(any(side.coverage is None for side in pair) for pair in both)
    if bare:
        yield f"{_count(bare, 'pair')} left out: no section on at least one side."
    silent = len(fit) - sum(fit) - bare
    if silent:
        yield f"{_count(silent, 'pair')} left out: nothing is asked on at least one side."
    named = [{_name(conversation) for conversation in rest} for rest in (pairing.only_first, pairing.only_second)]
    for source, rest, others in ((a, pairing.only_first, named[1]), (b, pairing.only_second, named[0])):
        if rest:
            differing = sum(_name(conversation) in others - {None} for conversation in rest)
            yield (
                f"{_count(len(rest), 'conversation')} of {source} left out: no conversation about the same section is "
                "left on the other side to pair with"
                + (f" ({differing} with the same title and header, but another section)." if differing else ".")
            )
    if len(set(sections)) < len(sections):
        yield (
            f"{_count(len(sections), 'pair')} about {_count(len(set(sections)), 'section')}: "
            "the tests and the interval are over sections (groups of pairs)."
        )
    if not sections:
        yield "there is no pair to compare."
    elif gap_left is None:
        yield "gap left: none, since the interval of the difference over all questions is missing or holds 0."


def _repeated(source: str, conversations: Sequence[Conversation]) -> Iterable[str]:
    """Whether the t-tests of two samples take conversations about one section as independent."""
    sections = [key for key in map(topic_key, conversations) if key]
    if (distinct := len(set(sections))) < len(sections):
        yield (
            f"{source}: {_count(len(sections), 'conversation')} about {_count(distinct, 'section')}, which the comparisons by "
            "t-test take as independent: their p is too small."
        )


def _name(conversation: Conversation) -> tuple[str, str] | None:
    """Title and header; None if either is missing."""
    title, header = (conversation.scenario.get(key) for key in ("title", "header"))
    return (title, header) if isinstance(title, str) and isinstance(header, str) and title and header else None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def equal_questions_tables(compared: Sequence[EqualQuestions]) -> list[Table]:
    """Coverage of both sources, and the paired tests.

    Each table has a row for all questions and one for the first k.
    """
    if not compared:
        return []
    several = len(compared) > 1
    rows: list[dict[str, Cell]] = []
    sides = [] if several else [f"a: {one.a}, b: {one.b}." for one in compared]
    left_out: list[str] = []
    reasons: list[str] = []
    for one in compared:
        named = f"{one.a} and {one.b}: " if several else ""
        left_out += [f"{named}{note}" for note in one.notes]
        for label, numbers, *more in (
            ("all", one.all_questions, one.questions_a, one.questions_b, None),
            ("first k", one.first_k, one.k, one.k, one.gap_left),
        ):
            rows.append(_row(one, label, numbers) | dict(zip(("asked_a", "asked_b", "gap_left"), more, strict=True)))
            if numbers.reason:
                reasons.append(f"{named}{label}: {numbers.reason}.")
    shared = [Column(name="questions"), *(Column(name=name) for name in ("a", "b") if several)]
    return [
        Table.of(
            "Coverage at equal number of questions",
            [*shared, *_MEANS],
            rows,
            [
                *sides,
                "Conversations are paired by section; first k: the smaller number of questions of the pair, answered "
                "or not. Asked: mean number of questions. Mean: of coverage. Gap left: difference at the first k over "
                "that at all questions.",
                *left_out,
            ],
        ),
        Table.of(
            "Paired tests of coverage",
            [*shared, *_TESTS],
            rows,
            [
                *sides,
                "Difference: mean of a minus b, with the ends of its 95 % interval (Student's t). Two-tailed tests of "
                "the pairs: Student's t, and Wilcoxon's signed-rank W.",
                *reasons,
            ],
        ),
    ]


def _row(one: EqualQuestions, label: str, numbers: PairedComparison) -> dict[str, Cell]:
    names = {"t": "statistic", "W": "wilcoxon_statistic", "p_of_W": "wilcoxon_p"}
    renamed = {column: getattr(numbers, name) for column, name in names.items()}
    return vars(numbers) | renamed | {"questions": label, "a": one.a, "b": one.b, "pairs": one.pairs}


_MEANS = (
    Column(name="pairs", kind="count"),
    *(
        Column(name=name, kind="number")
        for name in ("asked a", "asked b", "mean a", "mean b", "difference", "gap left")
    ),
)
_TESTS = (
    *(Column(name=name, kind="number") for name in ("difference", "low", "high", "t")),
    Column(name="p", kind="p"),
    Column(name="W", kind="number"),
    Column(name="p of W", kind="p"),
)
