"""Agreement of the labels that conversations carry, what several labels come to, and whose a label is."""

import pytest

pytest.importorskip("scipy", reason="agreement needs the extra stats")

import numpy as np

from duologue import data
from duologue.analysis.labels.agreement import agreement
from duologue.analysis.labels.combining import rectified_mean, weighed_votes
from duologue.analysis.labels.reading import labels_of
from duologue.data.labels.reading import side_of
from duologue.errors import DataError, SettingError

BETWEEN = [("human", "judge")]


def test_a_label_of_the_conversation_is_one_row(talk):
    talks = [talk(str(n), {"human": "yes" if n % 2 else "no", "judge": "yes" if n % 4 else "no"}) for n in range(16)]
    (row,) = agreement(talks, between=BETWEEN).rows
    assert (row.side, row.label, row.against, row.part) == ("not told", "human", "judge", "")
    assert (row.n, row.users, row.accuracy.value, row.base_rate) == (16, 16, 0.75, 0.5)
    assert row.kappa.value == 0.5
    assert row.kappa.low < 0.5 < row.kappa.high
    assert row.weighted_kappa.value is None
    few = agreement(talks[:5], between=BETWEEN).rows[0]
    assert (few.kappa.low, few.note) == (None, "no interval: 5 users, 6 are needed")


def test_sides_are_never_pooled_and_both_studies_of_people_are_one(task):
    talks = [
        task(f"{variant}{n}", {"human": word, "judge": word}, variant)
        for variant, word in (("simulated", "all"), ("human", "some"), ("human_v2", "few"))
        for n in range(3)
    ]
    by_side = {row.side: row for row in agreement(talks, between=BETWEEN).rows}
    assert {side: row.n for side, row in by_side.items()} == {"simulated": 3, "people": 6}
    assert by_side["simulated"].kappa.value is None  # both sides together would have a kappa of 1
    assert "kappa is undefined: human is always all and judge is always all" in by_side["simulated"].note
    assert by_side["simulated"].ac1.value == 1
    assert by_side["people"].kappa.value == 1


@pytest.mark.parametrize(
    ("labels", "between", "row"),
    [
        (
            {"human": {"order": "depth", "tone": "flat"}, "judge": {"order": "depth", "feedback": "none"}},
            ("human", "judge"),
            ("human.order", "judge.order", "order"),
        ),
        (
            {"rating": {"Detail Level": 2}, "judge": {"detail": "2"}},
            ("rating.Detail Level", "judge.detail"),
            ("rating.Detail Level", "judge.detail", "Detail Level"),
        ),
        ({"v1.0": "a", "judge": "a"}, ("v1.0", "judge"), ("v1.0", "judge", "")),
        ({"v1.0": {"x": "a"}, "judge": "a"}, ("v1.0.x", "judge"), ("v1.0.x", "judge", "x")),
    ],
)
def test_parts_meet_by_their_names_or_are_named_by_a_dot(talk, labels, between, row):
    (found,) = agreement([talk("1", labels)], between=[between]).rows
    assert (found.label, found.against, found.part, found.accuracy.value) == (*row, 1)


def test_labels_of_messages_meet_message_by_message_and_their_values_in_any_spelling(talk):
    turns = [
        {"human": "是", "judge": {"judge": True, "memo": "m"}},
        {"human": "否", "judge": {"judge": False}},
        {"human": "否"},
    ]
    (row,) = agreement([talk("1", turns=turns), talk("2", turns=turns)], between=BETWEEN).rows
    assert (row.n, row.accuracy.value) == (4, 1)


def test_votes_count_by_their_result_and_are_compared_by_one_name(talk, voted):
    talks = [
        talk("1", {"human": "a", "judge": voted("a", "a", "b", final="a")}),
        talk("2", {"human": "b", "judge": voted("b", "b", "b", final="b")}),
        talk("3", {"human": "b", "judge": voted("a", "b", "c", final=None)}),
    ]
    both, votes = agreement(talks, between=[*BETWEEN, ("judge",)]).rows
    assert (both.n, both.accuracy.value, both.votes) == (2, 1, 3)
    assert both.unanimity == pytest.approx(1 / 3)
    assert both.entropy == pytest.approx((0.9183 + 0 + 1.585) / 3, abs=1e-4)
    assert "1 of judge are ties, left out" in both.note
    chance = (3 / 9) ** 2 + (5 / 9) ** 2 + (1 / 9) ** 2
    assert (votes.against, votes.n) == ("votes", 3)
    assert votes.kappa.value == pytest.approx(((1 / 3 + 1 + 0) / 3 - chance) / (1 - chance))


def test_words_are_in_an_order_where_it_is_told(talk):
    pairs = [("Low", "Moderate"), ("High", "High"), ("Low", "Low"), ("Moderate", "High")] * 3
    talks = [talk(str(n), {"human": {"u": a}, "judge": {"u": b}}) for n, (a, b) in enumerate(pairs)]
    plain, ordered, by_part = (
        agreement(talks, between=BETWEEN, **more).rows[0]
        for more in ({}, {"ordered": [("Low", "Moderate", "High")]}, {"scales": {"u": ("Low", "Moderate", "High")}})
    )
    assert plain.weighted_kappa.value is plain.ac2 is None
    assert ordered.weighted_kappa == by_part.weighted_kappa
    assert ordered.weighted_kappa.value > ordered.kappa.value == plain.kappa.value
    with pytest.raises(SettingError, match=r"is not an order of any label: judge\.u also has moderate"):
        agreement(talks, between=BETWEEN, ordered=[("low", "moderat", "high")])


@pytest.mark.parametrize(
    ("labels", "between", "words"),
    [
        ({"human": "a"}, ("human", "judge"), "no conversation has the label 'judge'; there is human"),
        ({"human": {"x": "a"}}, ("human.y", "human"), "no part 'y', only x"),
        ({"human": {"x": "a"}, "judge": {"y": "a"}}, ("human", "judge"), "no part in common"),
    ],
)
def test_a_label_that_is_not_there_is_one_line(talk, labels, between, words):
    with pytest.raises(DataError, match=words):
        agreement([talk("1", labels)], between=[between])


def test_two_sources_meet_by_path_or_id_and_the_rest_is_counted(talk):
    first = [talk(str(n), {"human": "a"}) for n in range(3)]
    second = [talk(str(n), {"judge": "a"}) for n in (2, 1)]
    report = agreement(first, second, between=BETWEEN)
    assert report.rows[0].n == 2
    assert report.notes[0].startswith("Left out: 1 conversations")
    (row,) = agreement(first, first, between=[("human", "human")]).rows
    assert "where one is a copy of the other this measures nothing" in row.note


def test_confusion_counts_each_pair_of_values(talk):
    talks = [
        talk(str(n), {"human": one, "judge": other})
        for n, (one, other) in enumerate(map(tuple, ["Aa", "Ab", "Ab", "Cb"]))
    ]
    rows = agreement(talks, between=BETWEEN, confusion=True).confusion
    assert [(row["value"], row["judged"], row["n"]) for row in rows] == [("a", "a", 1), ("a", "b", 2), ("c", "b", 1)]


@pytest.mark.heavy
def test_the_open_data_gives_scikit_learns_kappas_and_its_published_figures(open_data):
    metrics = pytest.importorskip("sklearn.metrics")
    newer = data.load(open_data / "recllmsim_human_vs_agent").conversations
    for row in agreement(newer, between=[("solving_human", "solving")]).rows:
        pairs = [
            tuple(labels_of(one, name)[None, row.part].value for name in ("solving_human", "solving"))
            for one in newer
            if side_of(one) == row.side and labels_of(one, "solving_human") and labels_of(one, "solving")
        ]
        assert row.n == len(pairs)
        assert row.kappa.value == pytest.approx(metrics.cohen_kappa_score(*zip(*pairs, strict=True)))


def test_a_judge_that_is_too_kind_is_rectified_and_the_interval_holds_the_truth():
    rng = np.random.default_rng(0)
    held, draws = 0, 200
    for _ in range(draws):
        truth = rng.random(200) < 0.3
        judged = np.where(rng.random(200) < 0.8, truth, 1).astype(float)
        people = [float(value) if number < 40 else None for number, value in enumerate(truth)]
        found = rectified_mean(people, judged.tolist(), scale=(0.0, 1.0))
        held += found.low <= 0.3 <= found.high
    assert held / draws > 0.9
    assert abs(found.value - 0.3) < judged.mean() - 0.3 + 0.1


def test_too_few_labels_of_people_give_no_interval_and_agreement_throughout_still_a_wide_one(talk):
    few = rectified_mean([1.0, 0.0, None], [1.0, 0.0, 1.0], scale=(0.0, 1.0))
    assert (few.low, few.n, few.groups) == (None, 2, 2)
    same = rectified_mean([0.0] * 10 + [None] * 90, [0.0] * 100, scale=(0.0, 1.0))
    assert (same.value, same.low) == (0.0, 0.0)
    assert same.high > 0.1
    talks = [talk(str(n), {"human": "a" if n else "b", "judge": "a"} if n < 8 else {"judge": "a"}) for n in range(20)]
    rows = agreement(talks, between=BETWEEN, rectify=True).rectified
    assert [tuple(row[name] for name in ("value", "n", "of", "judge", "people")) for row in rows] == [
        ("a", 8, 20, 1.0, 0.875),
        ("b", 8, 20, 0.0, 0.125),
    ]
    assert rows[0]["rectified"] == pytest.approx(0.875)


def test_votes_are_weighed_by_how_often_each_rater_errs():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300)
    right = {"good": 0.95, "other": 0.9, "poor": 0.55, "worse": 0.5, "worst": 0.45}
    votes = {
        thing: {rater: int(value if rng.random() < share else 1 - value) for rater, share in right.items()}
        for thing, value in enumerate(truth)
    }
    found = weighed_votes(votes)
    weighed = sum(max(found.values[thing], key=found.values[thing].get) == value for thing, value in enumerate(truth))
    majority = sum((sum(votes[thing].values()) > 2) == value for thing, value in enumerate(truth))
    assert weighed > majority
    assert found.errors["good"][0][0] == pytest.approx(0.95, abs=0.1)
    assert found.errors["worst"][0][0] < found.errors["other"][0][0]
