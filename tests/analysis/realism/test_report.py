"""The report of two sides: what differs, what it says when it cannot tell, and which conversations it compares."""

import json
import random
import warnings

import numpy as np
import pytest

from duologue.analysis.realism import compare
from duologue.analysis.realism.effects import Comparison, Side
from duologue.analysis.realism.transcripts import MOST
from duologue.data import load
from duologue.data.people import part_of, user_of
from duologue.views.realism import write


def rows_of(report):
    return {row.name: row for row in report.rows}


def test_planted_courtesies_differ_and_stand_first(two_sides):
    report = compare(*two_sides, references={"others": two_sides[1], "alike": two_sides[0]})
    rows = rows_of(report)
    thanks = rows["thanks"]
    assert (thanks.simulated, thanks.people, thanks.effect.value, thanks.differs) == (pytest.approx(0.5), 0, 1, True)
    assert thanks.references == {"others": 0, "alike": 1}
    assert any(line.startswith("digits: every value is 0.5") for line in report.left_out)
    assert [row.differs for row in report.rows] == sorted((bool(row.differs) for row in report.rows), reverse=True)
    assert (report.auc.value, report.auc_references["alike"].value) == (1, 1)
    assert report.auc.low > report.auc_halves.value
    assert len(report.table().rows) == len(report.frame()) == len(report.rows)


def test_words_alone_tell_the_sides_apart(talk):
    """Nothing but the words differs, of which no measure counts one."""
    lines = ("over", "under", "near", "beyond")
    sides = [
        [talk(f"We go {lines[n % 4]} the {thing} soon", user=f"{thing}{n}", id=f"{thing}{n}") for n in range(12)]
        for thing in ("bridge", "tunnel")
    ]
    report = compare(*sides)
    assert not any(row.differs for row in report.rows)
    assert report.auc.value > 0.9


def test_the_same_conversations_are_not_told_apart_and_give_the_same_report_in_any_order(two_sides):
    _, people = two_sides
    shuffled = random.Random(0).sample(people, len(people))
    report = compare(people, people)
    assert report.model_dump_json() == compare(shuffled, shuffled).model_dump_json()
    assert not any(row.differs for row in report.rows)
    assert report.auc.low <= 0.5 <= report.auc.high
    assert any("on both sides" in note for note in report.notes)


def test_delta_is_by_users_within_tasks():
    """One user's many conversations count as one, and a task of one side does not count."""
    first = Side(np.array([[3.0], [3], [3], [0], [9]]), np.array([0, 0, 0, 1, 1]), np.array([0, 0, 0, 0, 1]))
    second = Side(np.array([[1.0], [2]]), np.array([0, 1]), np.array([0, 0]))
    found = Comparison(first, second, 0)
    assert found.effect().value == 0
    assert found.means == (pytest.approx(1.5), pytest.approx(1.5))
    assert found.effect().reason.startswith("no interval: 2 users")


def test_many_users_are_left_out_in_groups_and_the_interval_is_much_the_same(monkeypatch):
    rng = np.random.default_rng(0)

    def side(shift):
        return Side(rng.normal(shift, 1, (300, 1)), np.arange(300) // 2, np.zeros(300, dtype=int))

    sides = side(0.5), side(0)
    grouped = Comparison(*sides, 0).effect()
    monkeypatch.setattr("duologue.analysis.realism.effects.MOST_GROUPS", 1000)
    alone = Comparison(*sides, 0).effect()
    assert grouped.value == pytest.approx(alone.value)
    assert (grouped.low, grouped.high) == pytest.approx((alone.low, alone.high), abs=0.02)


@pytest.mark.heavy
def test_halves_of_the_people_differ_in_at_most_one_row_of_twenty(open_people):
    users = sorted(set(map(user_of, open_people)))
    rng, rows, aucs = np.random.default_rng(1), [], []
    for _ in range(12):
        chosen = set(rng.permutation(users)[: len(users) // 2].tolist())
        halves = [[one for one in open_people if (user_of(one) in chosen) is own] for own in (True, False)]
        report = compare(*halves, language="zh")
        rows += [row.differs for row in report.rows]
        aucs.append(report.auc)
    assert len(rows) > 200
    assert sum(map(bool, rows)) <= len(rows) / 20
    assert sum(auc.low <= 0.5 <= auc.high for auc in aucs) >= 10


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nobody at all", "no conversation was given"),
        ("no simulated conversation", "no conversation was given"),
        ("nobody", "no conversation was given"),
        ("one user only", "no interval: 1 users on a side, 6 are needed"),
        ("no turn of the user", "no text of the user"),
        ("languages that do not meet", "languages differ"),
        ("constant measures", "every value is"),
        ("one conversation", "no interval: 1 users"),
        ("no words", "every value is"),
        ("other tasks", "none in common"),
    ],
)
def test_poor_data_is_a_line_and_never_a_crash_a_nan_or_a_warning(name, words, talk, side, tmp_path):
    people = side(6, False)
    silent = [one.model_copy(update={"messages": one.messages[1::2]}) for one in people]
    chinese = [talk("我想去罗马旅行，有什么推荐？", "好。", user=f"u{n}", id=f"z{n}") for n in range(6)]
    same = [talk("the same words", "ok", "again", user=f"u{n}", id=f"s{n}") for n in range(6)]
    sim, human = {
        "nobody at all": ([], []),
        "no simulated conversation": ([], people),
        "nobody": (people, []),
        "one user only": (side(6, True, users=1), people),
        "no turn of the user": (silent, people),
        "languages that do not meet": (people, chinese),
        "constant measures": (same, same),
        "one conversation": (side(1, True), people),
        "no words": ([talk("", "", "...", user=f"u{n}", id=f"e{n}") for n in range(6)], people),
        "other tasks": (side(6, True, task="a"), side(6, False, task="b")),
    }[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = compare(sim, human, references={"others": human})
        write(report, tmp_path)
        table = report.table()
    json.dumps(report.model_dump(mode="json"), allow_nan=False)
    assert words in " ".join(table.notes)
    if name == "languages that do not meet":
        assert [row.name for row in report.rows] == ["turns"]


def test_conversations_are_compared_within_common_tasks_and_assistants(talk, side):
    def of(task, assistant):
        sides = side(12, True, task=task, assistant=assistant)
        return [one.model_copy(update={"id": f"{task}{assistant}{one.id}"}) for one in sides]

    sim = [*of("travel", "x"), *of("travel", "y"), *of("feasts", "x")]
    report = compare(sim, [*of("travel", "x"), *of("meals", "x")])
    assert report.tasks == ("travel planning, x",)
    assert any("the same assistant (x); 12 with others" in note for note in report.notes)
    assert (report.simulated.compared, report.people.compared) == (12, 12)
    assert {"Task 'feasts'", "Task 'meals'", "Who answered"} <= {note.partition(":")[0] for note in report.notes}
    other = compare(of("travel", "x"), of("travel", "y"))
    assert any("different assistants" in note for note in other.notes)


def test_a_part_has_the_same_users_for_good(two_sides):
    reports = [compare(*two_sides, part=part) for part in ("tune", "test")]
    assert sum(report.people.users for report in reports) == 8
    assert {part_of(f"u{n}") for n in range(20)} == {"tune", "test"}


def test_a_translated_side_loses_the_measures_that_a_translation_changes(open_data):
    pytest.importorskip("jieba")
    sides = (load(open_data / f"recllmsim/{name}").conversations[:40] for name in ("LLM_agent_user", "human_exp_V2"))
    report = compare(*sides)
    assert report.language == "zh"
    assert not {"punctuation", "hedges"} & rows_of(report).keys()
    assert any(line.startswith("a translation changes") for line in report.left_out)
    assert any("words of a translation" in note for note in report.notes)


def test_labels_of_both_sides_are_rows_and_what_cannot_be_compared_is_told(talk):
    def labelled(name, **labels):
        return [
            talk(
                f"plan {n}", "ok", user=f"{name}{n}", id=f"{name}{n}", labels={key: of(n) for key, of in labels.items()}
            )
            for n in range(12)
        ]

    sim = labelled("s", rating=lambda n: 5, useful=lambda n: "yes", mood=lambda n: "ab"[n % 2], tone=lambda n: "x")
    people = labelled(
        "p", rating=lambda n: n % 3, useful=lambda n: "no", mood=lambda n: "ab"[n % 2], tone=lambda n: "y"
    )
    report = compare(sim, people)
    rows = rows_of(report)
    assert (rows["rating"].simulated, rows["rating"].people, rows["rating"].annotation) == (5, 1, True)
    assert (rows["useful: yes"].simulated, rows["useful: yes"].people) == (1, 0)
    assert rows["mood: a"].effect.value == 0
    assert any(line.startswith("tone: only one side") for line in report.left_out)
    assert all(row.annotation for row in report.rows[-3:])


def test_users_are_those_that_a_file_names_and_without_names_the_report_says_so(tmp_path):
    for name, more in (("named", lambda n: {"user_id": f"p{n % 3}", "task": "旅行规划"}), ("nameless", lambda n: {})):
        lines = [
            {
                "id": f"{name}{n}",
                "conversations": [{"from": "human", "value": f"plan {n}"}, {"from": "gpt", "value": "ok"}],
                **more(n),
            }
            for n in range(9)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    named, nameless = (load(tmp_path / f"{name}.jsonl").conversations for name in ("named", "nameless"))
    report = compare(named, nameless)
    assert (report.simulated.users, report.people.users) == (3, 9)
    assert [note.split(" conv")[0] for note in report.notes if "do not name their user" in note] == ["People: 9 of 9"]
    assert compare(named, named).tasks == ("travel planning",)


def test_a_message_without_end_is_measured_to_its_limit(talk, two_sides):
    report = compare([talk("a " * MOST, user="long"), *two_sides[0]], two_sides[1])
    assert any(f"{MOST:,} characters" in note for note in report.notes)
