"""Judges of satisfaction: scores by hand and as scikit-learn's, what is held out, and what a judge may read."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from duologue.analysis.over_users.folds import dealt, shared
from duologue.analysis.recllmsim.judges import (
    Judge,
    JudgedTurn,
    baselines,
    judge_of_function,
    judge_of_points,
    judged_turns,
    measure_judges,
)
from duologue.analysis.recllmsim.judges.assistants import orders
from duologue.analysis.recllmsim.judges.folds import conversations_held_out, published, users_held_out
from duologue.analysis.recllmsim.judges.reasons import given_reasons, macro_f1, reason_counts, reason_rows, with_reason
from duologue.analysis.recllmsim.judges.rules import by_rules
from duologue.data import Conversation, Message
from duologue.errors import DataError
from tests.analysis.recllmsim.judges.judged import POINTS, of_points, scores, turn

pytest.importorskip("sklearn")


def crowd(users: int = 12) -> list[JudgedTurn]:
    """Users with two conversations of two turns each."""
    turns = []
    for user in range(users):
        for number in range(4):
            place, satisfaction = 2 * user + number // 2, (user * 7 + number * 3) % 5 + 1
            reason = ("", "vague", "wrong", "short")[user % 4] if satisfaction <= 3 else ""
            words = ["road", "train", "river", "house", "garden"][satisfaction - 1]
            turns.append(turn(f"u{user}", place, satisfaction, turn=number % 2 + 1, reply=f"The {words} {user}.",
                              reason=reason, assistant="ab"[user % 2]))  # fmt: skip
    return turns


def test_a_judge_that_knows_the_truth_is_right_throughout_and_one_that_is_upside_down_is_not():
    turns = crowd()
    true_points = {(judged.path, judged.turn): float(judged.satisfaction) for judged in turns}
    report = measure_judges(
        turns,
        [
            judge_of_points("knows", true_points),
            judge_of_points("mirror", {key: 6 - at for key, at in true_points.items()}),
        ],
    )
    by_name = {row.judge: row for row in report.judges.rows}
    best, worst = by_name["knows"], by_name["mirror"]
    assert (best.qwk, best.mae, best.auc, best.concordance) == (1, 0, 1, 1)
    assert (worst.auc, worst.concordance) == (0, 0)
    assert worst.qwk is not None
    assert worst.qwk < 0
    assert best.n == worst.n == len(turns)


def test_what_learns_never_sees_a_turn_of_the_users_that_it_judges():
    turns, seen = crowd(), []

    def nosy(train: Sequence[JudgedTurn], test: Sequence[JudgedTurn]) -> list[float]:
        seen.append(({judged.user for judged in train}, {judged.user for judged in test}))
        return [4.0] * len(test)

    measure_judges(turns, [Judge("nosy", nosy)])
    assert len(seen) == 5
    assert not any(train & test for train, test in seen)
    assert sorted(user for _, test in seen for user in test) == sorted({judged.user for judged in turns})


def test_the_users_mean_learns_from_the_users_other_conversations_alone():
    turns, seen = crowd(), []
    (own,) = [judge for judge in baselines() if judge.knows_user]
    for train, test in conversations_held_out(turns).parts():
        learnt = {turns[place].conversation for place in train}
        assert not learnt & {turns[place].conversation for place in test}
        seen += test
    assert sorted(seen) == list(range(len(turns)))
    # Mean of all 3; the user's two 5s and three further turns at 3.
    others = [turn("a", 0, 5), turn("a", 0, 5), turn("b", 1, 1), turn("b", 1, 1)]
    assert own.predict(others, [turn("a", 2), turn("c", 3)]) == [(10 + 9) / 5, 3]


def test_a_conversation_is_in_one_fold_wherever_its_file_lies_and_whatever_stands_before_it():
    turns = crowd()
    moved = [
        replace(judged, conversation=judged.conversation + 7, path=f"above/{judged.path}") for judged in reversed(turns)
    ]
    assert conversations_held_out(turns).fold == conversations_held_out(moved).fold[::-1]


def test_a_fold_depends_on_the_name_alone():
    names = [f"u{number}" for number in range(11)]
    fold = dict(zip(names, dealt(names), strict=True))
    backwards = [*reversed(names), *names]
    assert dict(zip(backwards, dealt(backwards), strict=True)) == fold
    sizes = [list(fold.values()).count(number) for number in range(5)]
    assert sorted(sizes) == [2, 2, 2, 2, 3]


def test_the_published_split_is_scikit_learns_and_its_leak_is_counted():
    alone = of_points(*[4] * 10)
    assert shared([one.conversation for one in alone], published(alone).parts())[1] == 0
    together = [turn("u", 0, 4, turn=number) for number in range(10)]
    assert shared([one.conversation for one in together], published(together).parts()) == (2, 2)
    turns = crowd()
    train, test = train_test_split(range(len(turns)), test_size=0.2, random_state=42)
    assert published(turns).tested == sorted(test)
    learnt = {turns[place].conversation for place in train}
    leaked = sum(turns[place].conversation in learnt for place in test)
    report = measure_judges(turns, split="published")
    assert (report.leak.tested, report.leak.shared) == (len(test), leaked)
    assert f"{leaked} of {len(test)} test turns" in report.judges.notes[0]
    assert {row.held_out for row in report.judges.rows} == {"turns"}
    assert measure_judges(turns).leak.shared == 0


def test_fewer_than_two_users_or_five_turns_are_refused():
    with pytest.raises(DataError, match="one user says"):
        users_held_out(of_points(1, 2))
    with pytest.raises(DataError, match="4 items to split"):
        published(of_points(1, 2, 3, 4))


def test_few_users_have_no_interval_and_a_constant_judge_has_none():
    few = scores(of_points(*[2, 5] * 7, users=7), [3, 4] * 7)
    assert few["mae"].reason == "no interval: 7 users, 8 are needed"
    many = scores(of_points(*[2, 5, 5, 2] * 5, users=10), [4] * 20)
    assert (many["qwk"].value, many["qwk"].low) == (0, None)
    assert many["qwk"].reason == "no interval: the same whichever user is left out"
    uneven = scores([*of_points(*[2, 5] * 5, users=10), turn("u0", 30, 5)], [4, *[5] * 10])
    assert uneven["mae"].low < uneven["mae"].value < uneven["mae"].high


@pytest.mark.heavy
@settings(max_examples=10)
@drawn(
    st.lists(
        st.tuples(st.sampled_from("abcdefghijk"), POINTS, st.sampled_from(["", "x", "y"])), min_size=6, max_size=14
    )
)
def test_no_report_has_a_nan_and_each_missing_value_has_its_reason(items):
    turns = [turn(user, place // 2, points, path=f"{user}{place // 2}", turn=place, reason=reason)
             for place, (user, points, reason) in enumerate(items)]  # fmt: skip
    if len({judged.user for judged in turns}) < 2:
        return
    for split in ("users", "published"):
        report = measure_judges(turns, [judge_of_points("silent", {})], split=split)
        document = json.loads(json.dumps(report.to_json(), allow_nan=False))
        assert all(
            row["reason"]
            for row in document["scores"] + document["reason_scores"]
            if None in (row["value"], row["low"])
        )
        assert any("silent: gives nothing for" in note for note in document["notes"]["judges"])
        for table in report.tables():
            assert "nan" not in table.to_csv().lower()


def test_two_judges_of_one_name_are_refused():
    with pytest.raises(DataError, match="two judges have the name 'mean'"):
        measure_judges(crowd(), [judge_of_points("mean", {})])


def talk(*labels: dict[str, Any], user: str = "ann", **more: Any) -> Conversation:
    messages = []
    for number, reply_labels in enumerate(labels):
        messages += [
            Message(role="user", text=f"Where {number}?"),
            Message(role="assistant", text="There.", labels=reply_labels),
        ]
    return Conversation(id=f"c-{user}", scenario={"kind": "plain", "goal": user}, messages=tuple(messages), **more)


def test_turns_are_read_with_what_the_user_says_next_and_without_empty_reasons():
    turns = judged_turns([talk({"satisfaction": "2", "reason": "不可用"}, {"satisfaction": 4.0}, {"satisfaction": "9"}),
                          talk({"satisfaction": 3, "reason": "其它"}, {}, user="bob")])  # fmt: skip
    assert [(judged.turn, judged.satisfaction, judged.reason) for judged in turns] == [
        (1, 2, "不可用"),
        (2, 4, ""),
        (1, 3, ""),
    ]
    assert [judged.following for judged in turns] == ["Where 1?", "Where 2?", "Where 1?"]
    assert turns[0].user != turns[2].user
    assert [judged.reason for judged in with_reason(turns)] == ["不可用"]


def test_a_function_sees_a_conversation_without_any_label_and_answers_for_each_reply():
    conversation = talk({"satisfaction": 2}, {"satisfaction": 5}, labels={"questionnaire": "good"})
    heard = []

    def judge(seen: Conversation) -> list[float | None]:
        heard.append([seen.labels, *(message.labels for message in seen.messages)])
        return [2, None]

    turns = judged_turns([conversation])
    points = judge_of_function("mine", judge, [conversation]).predict([], turns)
    assert points == [2, None]
    assert heard == [[{}] * 5]
    with pytest.raises(DataError, match="mine: gives 1 numbers for the 2 replies of c-ann"):
        judge_of_function("mine", lambda seen: [2], [conversation])
    with pytest.raises(DataError, match="mine: gives 7 for reply 2 of c-ann"):
        judge_of_function("mine", lambda seen: [2, 7], [conversation])


def test_the_rules_take_a_point_for_a_complaint_and_for_a_refusal_and_give_one_for_thanks():
    long = "Take the train. " * 20
    points = {"": 4, "Thank you!": 5, "That's wrong.": 3}
    assert by_rules([turn(reply=long, following=words) for words in points]) == list(points.values())
    assert by_rules([turn(reply=f"I'm sorry. {long}"), turn(reply="No.")]) == [3, 3]
    assert by_rules([turn(reply="好" * 200, following="不够详细", language="zh")]) == [3]


def test_reasons_are_scored_as_scikit_learn_does_beside_the_prior():
    turns = [turn(f"u{place}", place, 2, reason="aab"[place % 3]) for place in range(9)]
    assert [(row.reason, row.n, row.share) for row in reason_counts(turns)] == [("a", 6, 6 / 9), ("b", 3, 3 / 9)]
    reasons = {(judged.path, 1): "abbababbb"[place] for place, judged in enumerate(turns)}
    rows = reason_rows(turns, users_held_out(turns), {"mine": given_reasons(reasons)})
    truth, predicted = [judged.reason for judged in turns], list(reasons.values())
    assert [row.value for row in rows] == [
        pytest.approx(sum(a == b for a, b in zip(truth, predicted, strict=True)) / 9),
        pytest.approx(f1_score(truth, predicted, average="macro")),
    ]
    assert rows[1].low < rows[1].value < rows[1].high
    assert macro_f1(np.zeros((2, 2, 2)))(np.ones((1, 2)))[0] == 0
    (accuracy, f1) = reason_rows(turns, users_held_out(turns), {"silent": given_reasons({})})
    assert accuracy.reason == f1.reason == "undefined: the judge gives no reason"


def test_an_order_of_assistants_stands_beside_that_by_length_with_a_warning():
    report = measure_judges(crowd())
    first = {row.by: row.assistant for row in report.orders.rows if row.place == 1}
    assert {"people", "characters of the reply"} <= set(first)
    assert "always 4" not in first
    assert "proves nothing" in report.orders.title
    assert "proves nothing" in report.orders.notes[0]
    assert not measure_judges([judged for judged in crowd() if judged.assistant == "a"]).orders.rows


def test_assistants_of_equal_means_share_a_place_and_have_nobodys_order():
    level = [turn(f"u{user}", user, 4, assistant=name) for user in range(4) for name in "ab"]
    rows, (note,) = orders(level, {"mine": [float(place % 2) for place in range(8)]})
    assert [(row.by, row.place) for row in rows if row.by == "people"] == [("people", 1)] * 2
    assert [(row.place, row.assistant) for row in rows if row.by == "mine"] == [(1, "b"), (2, "a")]
    assert "Nothing here has people's order" in note


def test_a_terminal_is_told_below_its_table_why_there_is_no_interval():
    table = measure_judges(crowd(3)).scores.narrow()
    assert [column.name for column in table.columns] == ["judge", "score", "value", "low", "high", "n", "users"]
    assert "No interval: 3 users, 8 are needed: every row." in table.notes
    assert table.notes[-1].endswith("the higher this one is: user's mean (concordance).")
    notes = measure_judges(crowd(12)).scores.narrow().notes
    assert any(note.startswith("No interval: the same whichever user is left out: ") for note in notes)
