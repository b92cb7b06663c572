"""Profiles, intents and satisfaction from words, and judges: what is learnt from, what leaks, scores as scikit-learn's."""

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("sklearn")

import numpy as np
from sklearn.metrics import cohen_kappa_score, f1_score, mean_absolute_error

from duologue.analysis.recllmsim.judges import JudgedTurn, judged_turns, measure_judges
from duologue.analysis.recllmsim.learning import folds_of, macro_f1, models_of
from duologue.analysis.recllmsim.prediction import (
    Mixture,
    ProfileTalk,
    option,
    options_in,
    predict_profiles,
    profile_talks,
    ranked_scores,
)
from duologue.analysis.recllmsim.values import measure_intents, measure_satisfaction
from duologue.data import Conversation, Message
from duologue.data.records import labels_from
from duologue.errors import DataError

USERS = 10


def told(number: int, text: str, *options: str, user: str = "", task: Any = "travel") -> ProfileTalk:
    """A conversation of one text of a user with these options of personality."""
    return ProfileTalk(
        id=f"t{number}", path=f"User_{number}/x/{number}.json", user=user or f"u{number}", assistant="",
        language="en", messages=(("user", text),), labels={"personality": options} if options else {}, task=task,
    )  # fmt: skip


@pytest.fixture
def people() -> list[ProfileTalk]:
    """Two conversations of each of ten people, whose word tells one of two options."""
    words = (("sunny meadow", "Calm"), ("stormy harbour", "Humorous"))
    return [told(n, words[n // 2 % 2][0], words[n // 2 % 2][1], user=f"u{n // 2}") for n in range(2 * USERS)]


def rows_of(report: Any, table: str = "mean", **wanted: str) -> dict[str, Any]:
    rows = report.to_json()[table]
    return {row["model"]: row for row in rows if all(row[key] == value for key, value in wanted.items())}


def test_options_are_those_of_the_vocabulary_in_either_language() -> None:
    assert option("personality", " 冷静 ") == option("personality", {"zh": "冷静", "en": "?"}) == "Calm"
    assert option("personality", "calm") == "Calm"
    assert option("personality", "Calmm") is None
    assert options_in({"Travel Habits": ["看展", "看展", 3], "mood": ["Calm"]}) == {
        "travel_habits": ("Visiting exhibitions",)
    }


def test_a_word_that_tells_is_found_of_users_who_were_not_seen(people: list[ProfileTalk]) -> None:
    report = predict_profiles(people, models=models_of(["forest", "logistic"], options=True), seeds=1)
    held_out, published = (rows_of(report, split=split) for split in ("users", "published"))
    assert (held_out["logistic"]["hit_1"], held_out["forest"]["hit_1"]) == (1, 1)
    assert held_out["label prior"]["hit_1"] < 1
    assert (held_out["logistic"]["n"], held_out["logistic"]["users"], held_out["logistic"]["known"]) == (20, 10, 0)
    assert published["logistic"]["known"] > 0
    assert rows_of(report, "aspects", split="users", aspect="personality")["logistic"]["hit_1"] == 1


def test_the_other_group_is_learnt_from_alone_and_mixed_in_but_never_what_was_made_of_the_tested(
    people: list[ProfileTalk],
) -> None:
    copies = [told(100 + n, "flag", "Patient", user=f"u{n}") for n in range(USERS)]
    alone = rows_of(predict_profiles(people, copies, models={}, trainings=["other"]), split="users")
    assert alone["label prior"]["hit_1"] == 0  # Patient is all that there is to learn
    with pytest.raises(DataError, match="every conversation to train on is of the tested users"):
        predict_profiles(people[:4], [told(9, "flag", "Patient", user="u0")], models={}, trainings=["other"])
    rare = [told(200 + n, "flag", "Patient", user=f"v{n}") for n in range(3 * USERS)]
    hits = {}
    for training in ("own", "hot", "cold", "both"):
        rows = rows_of(predict_profiles(people, rare, models={}, trainings=[training]), split="users")
        hits[training] = rows["label prior"]["hit_1"]
    assert hits["hot"] == hits["own"] > hits["cold"] == hits["both"] == 0  # no user has the option of the others


def test_others_and_pairs_leave_out_what_does_not_count() -> None:
    talks = [told(n, "word", *(("Others",) if n % 2 else ("Calm", "Others"))) for n in range(10)]
    assert rows_of(predict_profiles(talks, models={}))["label prior"]["n"] == 2
    alone = predict_profiles(talks, models={}, mixture=Mixture(others=False))
    assert rows_of(alone, split="users")["label prior"]["n"] == 5
    with pytest.raises(DataError, match="is not predicted"):
        predict_profiles(talks, models={}, mixture=Mixture(pairs=True))


def test_who_ranks_options_counts_on_what_they_ranked_beside_the_prior_of_the_same(people: list[ProfileTalk]) -> None:
    assert ranked_scores({"personality": ["Calm", "Patient"]}) == {"personality": {"Calm": 1, "Patient": 0.99}}
    given = {talk.id: ranked_scores({"personality": ["Patient", *talk.labels["personality"]]}) for talk in people[:8]}
    rows = rows_of(predict_profiles(people, models={}, scored={"ann": {**given, "t8": {}}}), split="users")
    assert (rows["ann"]["n"], rows["ann"]["hit_1"], rows["ann"]["hit_3"]) == (9, 0, pytest.approx(8 / 9))
    assert rows["label prior, where ann"]["n"] == 9


def test_folds_hold_out_users_and_the_published_split_is_scikit_learns() -> None:
    users = [f"u{n % 4}" for n in range(12)]
    for train, test in folds_of(users, "users"):
        assert not {users[place] for place in train} & {users[place] for place in test}
    [(train, test)] = folds_of(users, "published")
    assert (len(train), len(test)) == (9, 3)
    with pytest.raises(DataError, match="two or more"):
        folds_of(["one"] * 6, "users")


def talk(user: str, number: int, *replies: tuple[str, int], intent: str = "") -> Conversation:
    messages: list[Message] = []
    for text, points in replies:
        reason = {"reason": text.split()[-1]} if points <= 3 else {}
        said = {"intent": [intent]} if intent else {}
        messages.append(Message(role="user", text=f"Hello {intent}.", labels=said))
        messages.append(Message(role="assistant", text=text, labels=labels_from({"satisfaction": points, **reason})))
    scenario = {"kind": "plain", "user": user, "goal": f"{user} {number}"}
    return Conversation(id=f"{user}-{number}", scenario=scenario, messages=tuple(messages))


@pytest.fixture
def crowd() -> list[Conversation]:
    """Users with two conversations of a good and a bad reply each, whose words tell which and why."""
    return [
        talk(f"u{n // 2}", n, ("splendid answer", 5), (f"dreadful {('vague', 'wrong')[n % 2]}", 2), intent=("plan", "search")[n % 2])
        for n in range(4 * USERS)
    ]  # fmt: skip


@pytest.mark.heavy
def test_words_that_tell_satisfaction_and_intents_are_found_of_users_who_were_not_seen(
    crowd: list[Conversation],
) -> None:
    rows = measure_satisfaction(crowd, models_of(["logistic"])).to_json()["scores"]
    held_out = {(row["task"], row["model"], row["score"]): row for row in rows if row["split"] == "users"}
    for task in ("five", "binary", "reasons", "six"):
        assert held_out[task, "logistic", "accuracy"]["value"] >= 0.5
    assert held_out["reasons", "logistic", "accuracy"]["n"] == len(crowd)
    assert held_out["points", "ridge", "mae"]["value"] < held_out["points", "prior", "mae"]["value"]
    assert {row["known"] for row in rows if row["split"] == "users"} == {0}
    assert {row["known"] > 0.5 for row in rows if row["split"] == "published" and row["task"] == "five"} == {True}
    intents = measure_intents(crowd, models_of(["logistic"]), language=None).to_json()["scores"]
    values = {(row["reads"], row["split"], row["model"], row["score"]): row["value"] for row in intents}
    assert values["message", "users", "logistic", "accuracy"] == 1
    assert values["message", "users", "prior", "accuracy"] == pytest.approx(0.5, abs=0.1)


def test_no_rating_and_no_intent_are_refused_with_what_to_give() -> None:
    silent = [talk("u", 1).model_copy(update={"messages": (Message(role="user", text="Hi"),)})]
    for measure in (measure_satisfaction, measure_intents, lambda talks: measure_judges(judged_turns(talks))):
        with pytest.raises(DataError, match="give"):
            measure(silent)
    assert profile_talks(silent)[0] == []


def test_scores_are_scikit_learns() -> None:
    draw = np.random.default_rng(0)
    truth, predicted = draw.integers(0, 3, 40), draw.integers(0, 3, 40)
    tables = np.zeros((1, 3, 3))
    np.add.at(tables, (0, truth, predicted), 1)
    assert macro_f1(tables)(np.ones((1, 1)))[0] == pytest.approx(f1_score(truth, predicted, average="macro"))
    turns = [judged(n, int(points)) for n, points in enumerate(draw.integers(1, 6, 40))]
    points = {(turn.path, 1): float(value) for turn, value in zip(turns, draw.integers(1, 6, 40), strict=True)}
    row = next(row for row in measure_judges(turns, {"stored": points}).to_json()["judges"] if row["judge"] == "stored")
    own, given = [turn.satisfaction for turn in turns], [points[turn.path, 1] for turn in turns]
    assert row["qwk"] == pytest.approx(cohen_kappa_score(own, given, weights="quadratic"))
    assert row["mae"] == pytest.approx(mean_absolute_error(own, given))


def judged(number: int, points: int, reply: str = "Go there.", user: str = "") -> JudgedTurn:
    return JudgedTurn(
        conversation=number, path=f"p{number}", id=f"c{number}", turn=1, user=user or f"u{number}",
        language="en", reply=reply, satisfaction=points,
    )  # fmt: skip


def test_judges_learn_from_others_only_and_constant_ones_have_no_order() -> None:
    turns = [judged(n, 2 + 3 * (n % 2), "go " * (20 if n % 2 else 2), user=f"u{n // 4}") for n in range(48)]

    def learnt(train: Sequence[JudgedTurn], asked: Sequence[JudgedTurn]) -> list[float | None]:
        known = {turn.user for turn in train}
        return [float(turn.user in known) + 1 for turn in asked]

    rows = measure_judges(turns, {"known": learnt}).to_json()["judges"]
    held_out = {row["judge"]: row for row in rows if row["split"] == "users"}
    assert held_out["known"]["mae"] == pytest.approx(2.5)  # nobody is known, so that each has one point
    assert (held_out["always 4"]["auc"], held_out["always 4"]["auc_low"]) == (0.5, None)
    assert held_out["length of the reply"]["auc"] == held_out["length of the reply"]["concordance"] == 1
    assert held_out["user's mean"]["concordance"] is None
    assert held_out["words of the reply (TF-IDF)"]["known"] == 0
