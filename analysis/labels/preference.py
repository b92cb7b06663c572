"""What people preferred in a side-by-side study: wins of each side, agreement, reasons.

As "Let the LLMs Talk" (WSDM 2024), table 4, counts it: a side wins where more than half of the labellers choose it; all
else is a tie.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from ...data.labels.definition import Vote, aggregate
from ...data.labels.side_by_side import ASPECTS, STUDY, is_asked
from ...data.labels.table import WHY, LabelAnswer
from ...errors import DataError
from ..estimates import Estimate
from ..tables import Cell, Column, Table, TablesReport
from .agreement import fleiss_kappa

PREFERENCE = "preference"
SIDES = ("first", "second")


def preferences(
    answers: Mapping[str, Iterable[LabelAnswer]],
    names: tuple[str, str] = SIDES,
    *,
    without: Collection[str] = (),
) -> TablesReport:
    """The wins of each side in people's answers to a study, by person; their labelled reasons, and all in their words.

    `without`: preferences to leave out, such as `ann:t1`, as a reader found that their reason contradicts them. DataError
    for one that is not there.
    """
    every = [answer for by in sorted(answers) for answer in answers[by] if answer.label == STUDY]
    by_name = {f"{answer.by}:{answer.conversation}": answer for answer in every}
    if unknown := [name for name in without if name not in by_name]:
        raise DataError(f"{unknown[0]!r} is no answer to the study: give names such as {', '.join(list(by_name)[:2])}")
    preferred = [answer for name, answer in by_name.items() if name not in without]
    notes = [
        f"first: {names[0]}; second: {names[1]}. A side wins where more than half of the labellers choose it; all else is a tie.",
        "tie: both (most say both, or tie), neither (most say neither) and split (no majority) together.",
        "n: questions, of preference conversations. Fleiss' kappa with its 95 % interval over conversations.",
    ]
    if without:
        notes.append(f"Preferences left out: {', '.join(sorted(without))}.")
    tables = {"wins": _wins_table(every, preferred, notes)}
    if reasons := _reasons(preferred):
        tables["reasons"] = reasons
    if why := [(name, one) for name, one in by_name.items() if one.value.get(WHY)]:
        tables["justifications"] = Table(
            title="Reasons beside their preference",
            columns=tuple(Column(name=name) for name in ("answer", "preference", "why")),
            rows=tuple((name, _as_seen(one), str(one.value[WHY])) for name, one in why),
            notes=(
                "A and B: as the person saw the sides. A reader decides which reasons contradict their preference.",
            ),
        )
    conversations = len({answer.conversation for answer in every})
    about = {"people": len({answer.by for answer in every}), "conversations": conversations}
    return TablesReport(about=about, by_name=tables)


def _as_seen(answer: LabelAnswer) -> str:
    """A, B or tie, as the person saw the sides: the reason may name them."""
    seen = dict(zip(SIDES, ("B", "A") if answer.value.get("switched") else ("A", "B"), strict=True))
    preference = str(answer.value.get(PREFERENCE))
    return seen.get(preference, preference)


def _reasons(answers: Sequence[LabelAnswer]) -> Table | None:
    """How often each value of each label of the reasons is given, the commonest first; None without such a label."""
    given: dict[tuple[str, str], Counter[str]] = {}
    labelled: dict[str, Counter[str]] = {}
    for answer in answers:
        side = str(answer.value.get(PREFERENCE))
        for label, value in answer.value.items():
            if not is_asked(label):
                labelled.setdefault(label, Counter())[side] += 1
                for reason in dict.fromkeys(map(str, value if isinstance(value, list) else [value])):
                    given.setdefault((label, reason), Counter())[side] += 1
    sides = (*SIDES, "tie")
    order = sorted(given.items(), key=lambda item: (item[0][0], -item[1].total(), item[0][1]))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (label, reason, *(counts[side] for side in sides), *(labelled[label][side] for side in sides))
        for (label, reason), counts in order
    )
    columns = [Column(name="label"), Column(name="reason")]
    columns += [Column(name=name, kind="count") for name in (*sides, *(f"of {side}" for side in sides))]
    notes = ("Of how many labelled answers for each side how many give the reason; an answer may give several.",)
    return Table(title="Reasons for a preference", columns=tuple(columns), rows=rows, notes=notes) if rows else None


def _wins_table(every: Sequence[LabelAnswer], preferred: Sequence[LabelAnswer], notes: Sequence[str]) -> Table:
    columns = [Column(name="aspect"), Column(name="n", kind="count")]
    names = ("first", "second", "tie", "both", "neither", "split", "labellers", "fleiss", "low", "high")
    columns += [Column(name=name, kind="number") for name in names]
    rows, reasons = [], []
    for aspect in (*ASPECTS, PREFERENCE):
        row, kappa = _wins(aspect, preferred if aspect == PREFERENCE else every)
        rows.append({"aspect": aspect, **row, "fleiss": kappa.value, "low": kappa.low, "high": kappa.high})
        reasons += [f"{aspect}: {kappa.reason}."] if kappa.reason else []
    return Table.of("Side by side", columns, rows, [*notes, *reasons])


def _wins(aspect: str, answers: Sequence[LabelAnswer]) -> tuple[dict[str, Cell], Estimate]:
    """The shares of the questions, or conversations, and Fleiss' kappa of what the commonest number of people answered."""
    votes: dict[tuple[str, str], list[Vote]] = {}
    for answer in answers:
        for name, choice in answer.value.items():
            if isinstance(choice, str) and name.rpartition(" ")[2] == aspect:
                votes.setdefault((answer.conversation, name), []).append(choice)
    won = Counter(aggregate(of_item) for of_item in votes.values())
    sizes = Counter(len(of_item) for of_item in votes.values() if len(of_item) > 1)
    size = max(sizes, key=lambda size: (sizes[size], size), default=0)
    whole = {key: of_item for key, of_item in votes.items() if len(of_item) == size}
    kappa = Estimate(reason="nothing was answered by two people")
    if whole:
        kappa = fleiss_kappa(list(whole.values()), users=[name for name, _ in whole])

    def share(*values: Vote | None) -> float | None:
        return sum(won[value] for value in values) / len(votes) if votes else None

    both = "tie" if aspect == PREFERENCE else "both"
    row: dict[str, Cell] = {
        "n": len(votes),
        "first": share("first"),
        "second": share("second"),
        "tie": share(None, both, "neither"),
        "both": share(both),
        "neither": None if aspect == PREFERENCE else share("neither"),
        "split": share(None),
        "labellers": sum(map(len, votes.values())) / len(votes) if votes else None,
    }
    return row, kappa
