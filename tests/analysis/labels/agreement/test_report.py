"""Agreement of the labels that conversations carry."""

import json
from typing import Any

import pytest

pytest.importorskip("scipy", reason="agreement needs the extra stats")

from hypothesis import given
from hypothesis import strategies as st

from duologue.analysis.labels.agreement import agreement, confusion, matched, worth
from duologue.data.records import Conversation, Message
from duologue.errors import DataError, SettingError

BETWEEN = [("human", "judge")]


def test_a_label_of_the_conversation_is_one_row(talk):
    talks = [talk(str(n), {"human": "yes" if n % 2 else "no", "judge": "yes" if n % 4 else "no"}) for n in range(8)]
    (row,) = agreement(talks, between=BETWEEN).rows
    assert (row.side, row.label, row.against, row.part) == ("not told", "human", "judge", "")
    assert (row.n, row.users, row.accuracy, row.base_rate) == (8, 8, 0.75, 0.5)
    assert row.kappa == 0.5
    # Four say yes and two are judged no: three labels of another value than the commonest.
    assert (row.kappa_low, row.note) == (
        None,
        "no interval: 4 labels of other values than the commonest are needed, not 3",
    )
    (row,) = agreement(
        [
            *talks,
            *(talk(f"{n} more", {"human": "yes", "judge": "yes"}) for n in range(2)),
            *(talk(f"{n} no", {"human": "no", "judge": "no"}) for n in range(2)),
        ],
        between=BETWEEN,
    ).rows
    assert row.kappa_low < row.kappa < row.kappa_high
    assert row.weighted_kappa is None


def test_sides_are_never_pooled_and_both_studies_of_people_are_one(task):
    talks = [
        task(f"{variant}{n}", {"human": word, "judge": word}, variant)
        for variant, word in (("simulated", "all"), ("human", "some"), ("human_v2", "few"))
        for n in range(3)
    ]
    by_side = {row.side: row for row in agreement(talks, between=BETWEEN).rows}
    assert {side: row.n for side, row in by_side.items()} == {"simulated": 3, "people": 6}
    assert by_side["simulated"].kappa is None  # both sides together would have a kappa of 1
    assert "kappa is undefined: human is always all and judge is always all" in by_side["simulated"].note
    assert by_side["simulated"].ac1 == 1
    assert by_side["people"].kappa == 1


def test_each_part_that_both_have_is_a_row(talk):
    labels = {"human": {"order": "depth", "tone": "flat"}, "judge": {"order": "depth", "feedback": "none"}}
    (row,) = agreement([talk("1", labels)], between=BETWEEN).rows
    assert (row.label, row.against, row.part) == ("human.order", "judge.order", "order")


def test_a_dot_names_one_part_and_parts_of_other_names_meet(talk):
    talks = [
        talk(str(n), {"rating": {"Detail Level": n % 3, "Utility": 0}, "judge": {"detail": "2"}}) for n in range(9)
    ]
    (row,) = agreement(talks, between=[("rating.Detail Level", "judge.detail")]).rows
    assert (row.label, row.against, row.accuracy) == ("rating.Detail Level", "judge.detail", pytest.approx(1 / 3))
    assert row.kappa == 0
    assert "kappa is 0 for any other label: judge.detail is always 2" in row.note
    assert row.kappa_low is None
    assert row.weighted_kappa == 0


def test_a_key_with_a_dot_is_a_key(talk):
    (row,) = agreement([talk("1", {"v1.0": "a", "judge": "a"})], between=[("v1.0", "judge")]).rows
    assert row.label == "v1.0"
    (row,) = agreement([talk("1", {"v1.0": {"x": "a"}, "judge": "a"})], between=[("v1.0.x", "judge")]).rows
    assert row.label == "v1.0.x"


def test_labels_of_messages_meet_message_by_message(talk):
    turns = [
        {"human": "是", "judge": {"judge": True, "memo": "m"}},
        {"human": "否", "judge": {"judge": False}},
        {"human": "否"},
    ]
    (row,) = agreement([talk("1", turns=turns), talk("2", turns=turns)], between=BETWEEN).rows
    assert (row.n, row.accuracy, row.commonest) == (4, 1, "yes")


def test_labels_of_messages_and_of_conversations_do_not_meet(talk):
    one = talk("1", {"human": "5"}, turns=[{"judge": "5"}])
    with pytest.raises(DataError, match="no part in common: of conversations no parts; of messages no parts"):
        agreement([one], between=BETWEEN)


def test_votes_count_by_their_result_and_tell_how_sure_it_is(talk, voted):
    talks = [
        talk("1", {"human": {"final": "a"}, "judge": voted("a", "a", "b", final="a")}),
        talk("2", {"human": {"final": "b"}, "judge": voted("b", "b", "b", final="b")}),
        talk("3", {"human": {"final": "b"}, "judge": voted("a", "b", "c", final=None)}),
    ]
    (row,) = agreement(talks, between=BETWEEN).rows
    assert (row.n, row.accuracy, row.votes) == (2, 1, 3)
    assert row.unanimity == pytest.approx(1 / 3)
    assert row.entropy == pytest.approx((0.9183 + 0 + 1.585) / 3, abs=1e-4)
    chance = (3 / 9) ** 2 + (5 / 9) ** 2 + (1 / 9) ** 2
    assert row.fleiss == pytest.approx(((1 / 3 + 1 + 0) / 3 - chance) / (1 - chance))
    assert "1 of judge are ties, left out" in row.note


def test_one_name_compares_its_votes(talk, voted):
    votes = {"x": ("a", "a", "b"), "y": ("b", "b", "b"), "z": ("a", "b", "c")}
    talks = [talk(name, {"judge": voted(*({"order": vote} for vote in of_one))}) for name, of_one in votes.items()]
    (row,) = agreement(talks, between=[("judge",)]).rows
    assert (row.label, row.against, row.n, row.votes) == ("judge.order", "votes", 3, 3)
    assert row.accuracy == pytest.approx((1 / 3 + 1 + 0) / 3)
    chance = (3 / 9) ** 2 + (5 / 9) ** 2 + (1 / 9) ** 2
    assert row.kappa == row.fleiss == pytest.approx((4 / 9 - chance) / (1 - chance))


def test_identical_votes_say_nothing_and_it_is_told(talk, voted):
    talks = [talk(str(n), {"judge": voted(*[word] * 3, final=word)}) for n, word in enumerate("abab")]
    (row,) = agreement(talks, between=[("judge",)]).rows
    assert row.unanimity == 1
    assert "identical throughout" in row.note


def test_words_are_in_an_order_where_it_is_told(talk):
    pairs = [("Low", "Moderate"), ("High", "High"), ("Low", "Low"), ("Moderate", "High")] * 3
    talks = [talk(str(n), {"human": {"u": a}, "judge": {"u": b}}) for n, (a, b) in enumerate(pairs)]
    plain, ordered, by_part, by_name = (
        agreement(talks, between=BETWEEN, **more).rows[0]
        for more in ({}, {"ordered": [("Low", "Moderate", "High")]}, {"scales": {"u": ("Low", "Moderate", "High")}},
                     {"scales": {"judge.u": ("low", "moderate", "high")}})
    )  # fmt: skip
    assert plain.weighted_kappa is plain.linear_kappa is plain.ac2 is None
    assert ordered.weighted_kappa == by_part.weighted_kappa == by_name.weighted_kappa
    assert ordered.weighted_kappa > ordered.linear_kappa > ordered.kappa == plain.kappa
    (more,) = agreement(talks, between=BETWEEN, ordered=[("Low", "Moderate", "High", "Full")]).rows
    assert more.weighted_kappa is not None


def test_an_order_in_which_no_label_has_all_its_values_is_refused(talk):
    pairs = [("Low", "Moderate"), ("High", "High"), ("Low", "Low"), ("Moderate", "High")] * 3
    talks = [talk(str(n), {"human": {"u": a}, "judge": {"u": b}}) for n, (a, b) in enumerate(pairs)]
    with pytest.raises(
        SettingError, match=r"ordered low,moderat,high: is not an order of any label: judge\.u also has Moderate"
    ):
        agreement(talks, between=BETWEEN, ordered=[("low", "moderat", "high")])


def test_several_values_at_once_count_as_one(talk):
    turns = [{"human": ["规划", "推荐"], "judge": ["推荐", "规划"]}, {"human": "规划", "judge": ["规划", "推荐"]}]
    (row,) = agreement([talk("1", turns=turns)], between=BETWEEN).rows
    assert row.accuracy == 0.5
    assert "3 labels have several values" in row.note


def test_free_text_is_compared_for_being_equal_alone(talk):
    talks = [talk(str(n), {"human": f"text {n}", "judge": f"text {n if n % 2 else n + 1}"}) for n in range(80)]
    (row,) = agreement(talks, between=BETWEEN).rows
    assert (row.accuracy, row.kappa, row.alpha) == (0.5, None, None)
    assert "which is a text" in row.note


def test_votes_on_free_text_have_no_kappa(talk, voted):
    talks = [talk(str(n), {"judge": voted(f"one {n}", f"two {n}")}) for n in range(60)]
    (row,) = agreement(talks, between=[("judge",)]).rows
    assert (row.accuracy, row.kappa, row.unanimity, row.entropy) == (None, None, 0, 1)
    assert "which is a text" in row.note


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
LABELS = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
    st.sampled_from(["final", "1", "2", "3", "x", "human", ""]), inner, max_size=4), max_leaves=8)  # fmt: skip


@given(st.lists(st.tuples(LABELS, LABELS, LABELS), min_size=1, max_size=6))
def test_labels_of_any_shape_give_rows_or_one_line(given_labels):
    talks = [_of(number, *labels) for number, labels in enumerate(given_labels)]
    for between in (("human", "judge"), ("judge",)):
        try:
            reports: list[Any] = [
                agreement(talks, between=[between]),
                confusion(talks, between=[between]),
                worth(talks, between=[between]),
            ]
        except DataError:
            continue
        for table in reports:
            json.dumps(table.to_json(), allow_nan=False)
            table.table().to_markdown()


def _of(number, human, judge, of_message):
    message = Message(role="assistant", text="!", labels={"human": of_message, "judge": judge})
    labels = {"human": human, "judge": judge}
    return Conversation(id=str(number), scenario={"kind": "call"}, messages=(message,), labels=labels)


def test_two_sources_meet_by_path_or_id(talk):
    first = [talk("1", {"human": "a"}, path="x/1.json"), talk("2", {"human": "a"}), talk("3", {"human": "b"})]
    second = [talk("2", {"judge": "a"}), talk("9", {"judge": "b"}, path="x/1.json"), talk("4", {"judge": "b"})]
    assert [(one.id, other.id) for one, other in matched(first, second).pairs] == [("1", "9"), ("2", "2")]
    report = agreement(first, second, between=BETWEEN)
    assert (report.rows[0].n, report.rows[0].accuracy) == (2, 0.5)
    left = "Left out: 1 conversations of old and 1 of new that the other one does not have."
    assert left in agreement(first, second, between=BETWEEN, sources=("old", "new")).notes
    assert report.tables()[0].title == "human of the first source and judge of the second source"


def test_of_two_sources_each_note_says_which_is_meant(talk):
    first = [talk(str(n), {"mood": "Good"}) for n in range(6)]
    second = [talk(str(n), {"mood": "Good" if n else "Bad"}) for n in range(6)]
    (row,) = agreement(first, second, between=[("mood", "mood")], sources=("old", "new")).rows
    assert row.note == "kappa is 0 for any other label: mood of old is always Good"
    (table,) = agreement(first, second, between=[("mood", "mood")], sources=("old", "new")).tables()
    assert table.title == "mood of old and mood of new"


def test_a_label_and_its_own_copy_measure_nothing_and_it_is_said(talk, voted):
    first = [talk(str(n), {"mood": voted("a", "b", "ab"[n % 2], final="ab"[n % 2])}) for n in range(8)]
    (row,) = agreement(first, first, between=[("mood", "mood")]).rows
    assert row.note == "both sources have the same throughout: where one is a copy of the other this measures nothing"
    other = [talk(str(n), {"mood": voted("a", "b", "a", final="ab"[n % 2])}) for n in range(8)]
    assert agreement(first, other, between=[("mood", "mood")]).rows[0].note == ""


def test_votes_are_those_of_one_source(talk, voted):
    talks = [talk("1", {"mood": voted("a", "a", "b", final="a")})]
    with pytest.raises(SettingError, match="give one source, or the names of two labels, such as mood,mood"):
        agreement(talks, talks, between=[("mood",)])


def test_a_label_without_votes_has_nothing_to_compare(talk, voted):
    talks = [talk("1", {"mood": "a", "tone": voted("a", "a", "b", final="a")})]
    report = agreement(talks, between=[("mood",), ("tone",)])
    assert [row.label for row in report.rows] == ["tone"]
    assert report.notes[0].startswith("mood: one value each and no votes, nothing to compare: name a second label")


def test_what_to_do_where_no_side_is_told_is_said(talk, task):
    labels = {"human": "a", "judge": "a"}
    assert any(note.startswith("Side unknown: ") for note in agreement([talk("1", labels)], between=BETWEEN).notes)
    of_people = agreement([task("1", labels, "human")], between=BETWEEN)
    assert not any(note.startswith("Side unknown: ") for note in of_people.notes)


def test_a_note_about_a_side_that_is_not_told_says_that_it_is_the_side(talk):
    people = [{"final": {"mood": "a" if n else None}, "1": {"mood": "a"}, "2": {"mood": "b"}} for n in range(6)]
    talks = [talk(str(n), {"human": one, "judge": {"mood": "a"}}) for n, one in enumerate(people)]
    (table,) = agreement(talks, between=BETWEEN).tables()
    assert table.notes[0].startswith("mood (side unknown): 1 of human.mood are ties")


def test_values_are_told_as_the_data_writes_them(talk):
    talks = [talk(str(n), {"human": "BreadthDepth", "judge": "breadthdepth" if n else "Depth"}) for n in range(6)]
    (row,) = agreement(talks, between=BETWEEN).rows
    assert row.accuracy == 5 / 6
    assert row.commonest == "breadthdepth"  # written in two ways
    talks = [talk(str(n), {"human": "BreadthDepth", "judge": "BreadthDepth" if n else "Depth"}) for n in range(6)]
    (row,) = agreement(talks, between=BETWEEN).rows
    assert row.commonest == "BreadthDepth"
    assert row.note.endswith("human is always BreadthDepth")
    assert [(one.value, one.judged) for one in confusion(talks, between=BETWEEN).rows] == [
        ("BreadthDepth", "BreadthDepth"), ("BreadthDepth", "Depth"),
    ]  # fmt: skip


def test_a_table_is_named_by_the_parts_that_were_asked_for(talk):
    talks = [talk(str(n), {"rating": {"Detail Level": n % 3}, "judged": {"detail": 2}}) for n in range(6)]
    (table,) = agreement(talks, between=[("rating.Detail Level", "judged.detail")]).tables()
    assert table.title == "rating.Detail Level and judged.detail"
    talks = [talk(str(n), {"human": {"u": n % 3}, "judge": {"u": 2}}) for n in range(6)]
    assert agreement(talks, between=BETWEEN).tables()[0].title == "human and judge"


def test_what_path_and_id_do_not_tell_apart_is_left_out(talk):
    twice = [talk("1", {"human": "a"}), talk("1", {"human": "b"})]
    assert matched(twice, [talk("1", {"judge": "a"})]).pairs == ()


def test_messages_of_conversations_with_other_numbers_of_them_do_not_meet(talk):
    first, second = [talk("1", turns=[{"human": "a"}])], [talk("1", turns=[{"judge": "a"}, {"judge": "b"}])]
    assert agreement(first, second, between=BETWEEN).rows == ()


@pytest.mark.parametrize(
    ("between", "message"),
    [
        (("nobody", "judge"), "the first label: no conversation has the label 'nobody'; there is human, judge"),
        (("human", "judge.tone"), "the second label: the label 'judge' has no part 'tone', only order"),
        (("human.order", "judge.order"), "the label 'human' has no part 'order', none"),
    ],
)
def test_a_label_that_is_not_there_is_said(talk, between, message):
    with pytest.raises(DataError, match=message):
        agreement([talk("1", {"human": "a", "judge": {"order": "a"}})], between=[between])


def test_three_names_are_too_many(talk):
    with pytest.raises(SettingError, match="two names of labels"):
        agreement([talk("1", {"a": "a"})], between=[("a", "a", "a")])


def test_nothing_is_nan_in_json(talk, voted):
    labels = [("a", "a"), ("b", "a"), ("a", "a")]
    talks = [talk(str(n), {"human": a, "judge": voted(b, b, b, final=b)}) for n, (a, b) in enumerate(labels)]
    report = agreement(talks, between=[*BETWEEN, ("judge",)])
    assert len(report.rows) == 2
    json.dumps(report.to_json(), allow_nan=False)
    assert report.table().to_csv().count("\n") == 3
    assert [table.title for table in report.tables()] == ["human and judge", "judge: agreement of its votes"]


def test_confusion_counts_each_pair_of_values(talk):
    pairs = [("10", "9"), ("9", "9"), ("10", "9")]
    talks = [talk(str(number), {"human": one, "judge": other}) for number, (one, other) in enumerate(pairs)]
    rows = confusion(talks, between=BETWEEN).rows
    assert [(row.value, row.judged, row.n) for row in rows] == [("9", "9", 1), ("10", "9", 2)]
