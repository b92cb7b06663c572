"""Satisfaction told from words: what is read, what each task is, what leaks, and scores by hand and as scikit-learn's."""

from typing import Any

import pytest

pytest.importorskip("sklearn")

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, mean_absolute_error, root_mean_squared_error

from duologue.analysis.recllmsim.identification.text_models.classifiers import grown
from duologue.analysis.recllmsim.identification.text_models.texts import text_of, tf_idf
from duologue.analysis.recllmsim.identification.values import Task, measure_values
from duologue.analysis.recllmsim.satisfaction import measure_satisfaction, told_turns
from duologue.analysis.recllmsim.satisfaction.pairs import pairs_of
from duologue.analysis.recllmsim.satisfaction.points import measure_points
from duologue.analysis.recllmsim.satisfaction.turns import with_a_negative
from duologue.data import Conversation, Message
from duologue.errors import DataError, SettingError

USERS = 15


def talk(user: str, number: int, *replies: tuple[str, int], **labels: Any) -> Conversation:
    messages: list[Message] = []
    for text, points in replies:
        own = {"satisfaction": str(points), **({"reason": labels[str(points)]} if str(points) in labels else {})}
        messages += [Message(role="user", text="Hello."), Message(role="assistant", text=text, labels=own)]
    scenario = {"kind": "plain", "user": user, "goal": f"{user} {number}"}
    return Conversation(id=f"{user}-{number}", scenario=scenario, messages=tuple(messages))


def crowd(*, sign: bool) -> list[Conversation]:
    """Users with two conversations of a good and a bad reply each.

    `sign`: a word tells which; else one of each talk does which of two kinds it is, and all its turns have the same
    satisfaction.
    """
    talks = []
    for place in range(2 * USERS):
        user, reason = f"u{place // 2}", {"2": ("vague", "wrong")[place % 2]}
        word = reason["2"]
        own = f"marker{chr(97 + place % 26)}{chr(97 + place // 26)}"
        both = [("splendid answer", 5), (f"dreadful {word}", 2)]
        same = 5 if int(place * 7 % 5) < 3 else 2
        talks.append(talk(user, place, *(both if sign else [(own, same)] * 6), **reason))
    return talks


def test_texts_are_weighed_once_for_all_tasks_and_models_that_learn_from_the_same(monkeypatch: pytest.MonkeyPatch):
    from sklearn.feature_extraction.text import TfidfVectorizer

    fitted: list[Any] = []
    own = TfidfVectorizer.fit_transform

    def counted(vectors: Any, *texts: Any) -> Any:
        fitted.append(texts)
        return own(vectors, *texts)

    monkeypatch.setattr(TfidfVectorizer, "fit_transform", counted)
    turns = told_turns(crowd(sign=True), "talk")
    heard: list[str] = []
    measure_satisfaction(turns, tasks=("five", "points", "six"), trees=2, watch=heard.append)
    assert len(fitted) <= 5
    assert heard[:3] == ["five, talk: prior", "five, talk: forest", "five, talk: logistic"]
    assert heard[-1] == "six, talk: logistic"


def test_a_forest_says_the_same_on_any_number_of_processors():
    texts = [text_of([" ".join(f"w{place * step % 17}" for step in range(1, 9))], "en") for place in range(60)]
    train_features, test_features = tf_idf(texts[:40], texts[40:])
    points = np.array([float(place * 7 % 5) for place in range(40)])
    alone = (
        RandomForestRegressor(n_estimators=20, random_state=3, n_jobs=1)
        .fit(train_features, points)
        .predict(test_features)
    )
    shared = grown(RandomForestRegressor(n_estimators=20, random_state=3), train_features, points)
    assert shared.n_jobs == 1
    assert (shared.predict(test_features) == alone).all()


def scores(report: Any) -> dict[tuple[str, str, str], float | None]:
    return {(row.task, row.model, row.score): row.value for row in report.scores.rows}


@pytest.mark.heavy
def test_a_word_that_tells_satisfaction_is_found_of_users_who_were_not_seen():
    report = measure_satisfaction(told_turns(crowd(sign=True), "reply"), ["logistic", "forest"], trees=10)
    accuracy = scores(report)
    for name in ("five", "binary", "reasons", "six"):
        for model in ("logistic", "forest"):
            assert accuracy[name, model, "accuracy"] == 1, (name, model)
    assert accuracy["five", "prior", "accuracy"] == 0.5
    assert accuracy["binary", "logistic", "auc"] == 1
    assert accuracy["pairs", "logistic", "accuracy"] == 1
    assert accuracy["pairs", "prior", "accuracy"] == 0.5
    assert accuracy["points", "ridge", "mae"] < accuracy["points", "prior", "mae"]
    assert report.shared == 0


def test_what_a_conversation_says_of_itself_tells_its_turns_in_the_published_split_alone():
    turns = told_turns(crowd(sign=False))
    published, users = (
        measure_satisfaction(turns, ["logistic"], tasks=["five"], split=split) for split in ("published", "users")
    )
    prior = scores(users)["five", "prior", "accuracy"]
    assert scores(published)["five", "logistic", "accuracy"] >= 0.95
    assert scores(users)["five", "logistic", "accuracy"] <= prior + 0.05
    assert published.shared == published.tested
    assert (
        "(100.0%) are of conversations of which longer or shorter beginnings are trained on"
        in published.scores.notes[0]
    )
    assert users.shared == 0


def test_the_talk_is_read_up_to_the_reply_and_the_next_message_only_if_asked_for():
    one = Conversation(
        id="one", scenario={"kind": "plain", "user": "u", "goal": "find a pier"},
        messages=(Message(role="user", text="First."), Message(role="assistant", text="Answer.", labels={"satisfaction": 3}),
                  Message(role="user", text="Afterwards."), Message(role="assistant", text="Later.")),
    )  # fmt: skip
    (talked,) = told_turns([one])
    assert {"first", "answer"} <= set(talked.text.words)
    assert not {"afterwards", "later"} & set(talked.text.words)
    assert told_turns([one], "reply")[0].text.words == ("answer",)
    assert told_turns([one], "reply", following=True)[0].text.words == ("answer", "afterwards")


def test_users_without_a_negative_turn_are_left_out_of_the_binary_form():
    turns = told_turns([talk("a", 0, ("x", 5), ("y", 3)), talk("b", 1, ("x", 5), ("y", 4))])
    assert {turn.judged.user for turn in with_a_negative(turns)} == {turns[0].judged.user}


def test_a_pair_is_of_one_conversation_and_differs_in_satisfaction():
    turns = told_turns([talk("a", 0, ("x", 5), ("y", 3), ("z", 5)), talk("a", 1, ("x", 1))])
    assert {(pair.better, pair.worse) for pair in pairs_of(turns)} == {(0, 1), (2, 1)}
    assert len(pairs_of(turns, most=1)) == 1


def task(values: list[str], users: list[str]) -> Task:
    places = list(range(len(values)))
    texts = [text_of([value], "en") for value in values]
    return Task("t", "reply", texts, values, users, [(places, places)], "users")


def test_accuracy_macro_f1_and_auc_are_those_of_scikit_learn():
    truth = ["a", "b", "b", "c", "a", "a"]

    def wrong(train: Any, values: Any, texts: Any, seed: int) -> Any:
        return np.eye(3)[[0, 1, 0, 1, 2, 0]]

    by_model = {
        (row.model, row.score): row.value
        for row in measure_values(task(truth, list("uvwxyz")), {"wrong": wrong}, auc_of="a")
    }
    predicted = ["a", "b", "a", "b", "c", "a"]
    assert by_model["wrong", "accuracy"] == pytest.approx(accuracy_score(truth, predicted)) == 0.5
    assert by_model["wrong", "macro_f1"] == pytest.approx(f1_score(truth, predicted, average="macro"))
    # Shares of the three of value a: 1, 0, 1; of the others: 0, 1, 0.
    assert by_model["wrong", "auc"] == pytest.approx((2.5 + 1 + 2.5) / 9)
    assert by_model["prior", "accuracy"] == 0.5


def test_errors_of_points_are_those_of_scikit_learn():
    truth, predicted = ["5", "4", "1"], [4.4, 4.0, 3.0]
    rows = measure_points(task(truth, list("uvw")), {"given": lambda *_: np.array(predicted)})
    by_model = {(row.model, row.score): row.value for row in rows}
    numbers = [float(value) for value in truth]
    assert (
        by_model["given", "mae"]
        == pytest.approx(mean_absolute_error(numbers, predicted))
        == pytest.approx((0.6 + 0 + 2) / 3)
    )
    assert by_model["given", "rmse"] == pytest.approx(root_mean_squared_error(numbers, predicted))
    assert by_model["given", "mae_rounded"] == (1 + 0 + 2) / 3
    assert by_model["prior", "qwk"] == 0
    # Nearest whole points 4, 4, 3 beside 5, 4, 1: squared differences 1 + 0 + 4; by chance
    # (5 to 4, 4, 3; 4 to the same; 1 to the same) / 3 = ((1 + 1 + 4) + (0 + 0 + 1) + (9 + 9 + 4)) / 3.
    assert by_model["given", "qwk"] == pytest.approx(1 - 5 / (29 / 3))
    assert by_model["given", "qwk"] == pytest.approx(
        cohen_kappa_score([5, 4, 1], [4, 4, 3], labels=[1, 2, 3, 4, 5], weights="quadratic")
    )


def test_the_longer_reply_is_taken_and_equal_ones_count_half():
    # By pair of one conversation: longer and better, longer and worse, equally long.
    talks = [
        talk("a", 0, ("long reply", 5), ("x", 3)),
        talk("b", 1, ("x", 4), ("long reply", 1)),
        talk("c", 2, ("x", 4), ("y", 1)),
    ]
    talks += [talk(user, 3, ("longer one", 5), ("x", 2)) for user in "de"]
    rows = measure_satisfaction(told_turns(talks), ["logistic"], tasks=["pairs"]).scores.rows
    by_model = {row.model: row for row in rows}
    assert (by_model["longer reply"].value, by_model["longer reply"].n) == ((1 + 0 + 0.5 + 1 + 1) / 5, 5)
    assert by_model["prior"].value == 0.5


def test_what_cannot_be_measured_is_refused_or_told():
    with pytest.raises(DataError, match="no reply has a satisfaction"):
        measure_satisfaction(())
    with pytest.raises(SettingError, match="seeds 0"):
        measure_satisfaction(told_turns(crowd(sign=True)), seeds=0)
    few = told_turns(
        [talk("a", 0, ("x", 5), ("y", 4)), talk("b", 1, ("x", 5), ("y", 4)), talk("c", 2, ("x", 5))], "reply"
    )
    report = measure_satisfaction(few, ["logistic"])
    assert any(note.startswith("reasons: too few") for note in report.scores.notes)
