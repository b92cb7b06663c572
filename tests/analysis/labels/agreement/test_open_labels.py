"""The labels of the open data: people's, the published judges' and their votes."""

from functools import cache

import pytest

pytest.importorskip("scipy", reason="agreement needs the extra stats")

from duologue.analysis.labels.agreement import agreement
from duologue.data import load
from duologue.data.labels.reading import of_message, side_of
from duologue.errors import DataError

HUMAN = [(f"{name}_human", name) for name in ("solving", "broadness", "style", "advice")]
USEFULNESS = ("Low", "Moderate", "High")


@cache
def loaded(folder):
    return load(folder).conversations


@pytest.fixture
def newer(open_data):
    return loaded(open_data / "recllmsim_human_vs_agent")


@pytest.fixture
def older(open_data):
    return loaded(open_data / "recllmsim")


@pytest.mark.heavy
def test_kappas_of_peoples_labels_are_scikit_learns(newer):
    metrics = pytest.importorskip("sklearn.metrics")
    rows = agreement(newer, between=HUMAN, ordered=[USEFULNESS]).rows
    assert len(rows) == 2 * 11
    undefined = 0
    for row in rows:
        human, part = row.label.split(".")
        simulated = row.side == "simulated"
        pairs = [
            (talk.labels[human]["final"][part], talk.labels[row.against.split(".")[0]]["final"][part])
            for talk in newer
            if part in talk.labels.get(human, {}).get("final", {})
            and (talk.extra["variant"] == "simulated") == simulated
        ]
        one, other = [a for a, _ in pairs], [b for _, b in pairs]
        assert row.n == len(pairs)
        assert row.accuracy == pytest.approx(metrics.accuracy_score(one, other))
        if len({*one, *other}) == 1:
            assert (row.kappa, row.ac1) == (None, 1)
            assert "kappa is undefined" in row.note
            undefined += 1
            continue
        assert row.kappa == pytest.approx(metrics.cohen_kappa_score(one, other))
        if row.weighted_kappa is not None:
            order = [1, 2, 3, 4, 5] if isinstance(one[0], int) else [*USEFULNESS]
            for weights, ours in (("linear", row.linear_kappa), ("quadratic", row.weighted_kappa)):
                assert ours == pytest.approx(metrics.cohen_kappa_score(one, other, labels=order, weights=weights))
    assert undefined == 5


@pytest.mark.heavy
def test_alphas_of_votes_are_nltks(newer):
    nltk = pytest.importorskip("nltk.metrics.agreement")
    distance = pytest.importorskip("nltk.metrics")
    for row in agreement(newer, between=[("broadness",)]).rows:
        units = [
            talk.labels["broadness"]
            for talk in newer
            if (talk.extra["variant"] == "simulated") == (row.side == "simulated")
        ]
        triples = [
            (vote, str(number), of_one[vote][row.part])
            for number, of_one in enumerate(units)
            for vote in ("1", "2", "3")
        ]
        assert row.alpha == pytest.approx(nltk.AnnotationTask(triples, distance=distance.interval_distance).alpha())


@pytest.mark.heavy
def test_the_votes_of_two_taxonomies_are_identical_and_those_of_one_hardly_agree(newer):
    rows = agreement(newer, between=[(name,) for _, name in HUMAN]).rows
    for row in rows:
        if row.label.startswith(("style", "advice")):
            assert row.unanimity == 1
            assert "identical throughout" in row.note
        elif row.label.startswith("broadness"):
            assert 0.16 < row.fleiss < 0.26
        else:
            assert row.unanimity > 0.97


@pytest.mark.heavy
def test_the_published_judge_is_no_better_than_always_saying_2(older, newer):
    parts = {"Detail Level": "detail", "Practical Usefulness": "utility", "Diversity": "diversity"}
    between = [(f"rating.{rating}", f"satisfaction.{part}") for rating, part in parts.items()]
    rows = agreement(older, newer, between=between).rows
    assert [(row.side, row.n, row.commonest) for row in rows] == [("simulated", 233, "2")] * 3
    for row in rows:
        assert abs(row.accuracy - row.base_rate) < 0.015
        assert row.kappa < 0.2
        assert row.kappa_low < 0.12
    # The whole data has .018, .015, .198 and accuracies of .89, .83, .75; the open part is a sample of it.
    for row, whole in zip(rows, (0.018, 0.015, 0.198), strict=True):
        assert row.kappa_low <= whole <= row.kappa_high


@pytest.mark.heavy
def test_labels_of_replies_meet_reply_by_reply(older, newer):
    for name, side, number in (
        ("satisfaction", "people", 953),
        ("hallucination", "people", 1108),
        ("intent", "people", 155),
    ):
        row = next(row for row in agreement(older, newer, between=[(name, name)]).rows if row.side == side)
        assert (row.n, row.accuracy, row.kappa) == (number, 1, 1)


def test_the_same_conversations_meet_in_both_releases(older, newer):
    from duologue.analysis.labels.agreement import matched

    pairs = matched(older, newer)
    assert (len(pairs.pairs), pairs.only_first, pairs.only_second) == (487, 0, 0)


def test_a_key_of_the_files_names_what_it_holds_there(older, newer):
    (row, *_) = agreement(newer, between=[("strategy_human_V3.feedback", "strategy_V3.feedback")]).rows
    assert (row.label, row.against) == ("style_human.feedback", "style.feedback")
    (row, *_) = agreement(
        older, newer, between=[("strategy_V3.question_broadness", "strategy_V2.question_broadness")]
    ).rows
    assert (row.accuracy, row.against) == (1, "broadness.question_broadness")


def test_labels_with_other_wordings_are_compared_by_name_alone(older, newer):
    for names in (("strategy_V3.feedback",) * 2, ("strategy_V2.feedback", "style.feedback")):
        with pytest.raises(DataError, match=r"feedback.* is style\.feedback: two labels with different wordings"):
            agreement(older, newer, between=[names])
    with pytest.raises(DataError, match=r"strategy_V2 is order_and_feedback\.order and strategy_V1 is solving\.order"):
        agreement(older, newer, between=[("strategy_V2.order", "strategy_V1.order")])
    rows = agreement(older, newer, between=[("broadness_and_feedback.feedback", "style.feedback")]).rows
    assert {row.side for row in rows} == {"simulated", "people"}


def test_an_intent_equals_its_own_translation_and_peoples_intents_are_another_label(older):
    (row,) = agreement(older, between=[("intent", "intent_zh")]).rows
    assert (row.n, row.accuracy, row.side) == (870, 1, "simulated")
    names = {(side_of(talk), name) for talk in older for one in talk.messages for name in of_message(one)}
    assert {pair for pair in names if pair[1].startswith("intent") and pair[1] != "intent zh"} == {
        ("simulated", "intent"),
        ("people", "intent people"),
    }
