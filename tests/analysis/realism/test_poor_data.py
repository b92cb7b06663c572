"""A report of poor data: a statement or a line in place of a number, never a crash."""

import json
import warnings

import pytest

from duologue.analysis.realism import MEASURES, compare
from duologue.analysis.realism.measures.transcripts import MOST
from duologue.data import load
from duologue.views.realism.report import report_page, write
from tests.analysis.realism.courtesies import QUICK, side


def poor(talk):
    people = side(talk, 6, False)
    silent = [one.model_copy(update={"messages": one.messages[1::2]}) for one in people]
    chinese = [talk("我想去罗马旅行，有什么推荐？", "好。", user=f"u{n}", id=f"z{n}") for n in range(6)]
    alone = [one.model_copy(update={"extra": {"user": "only"}}) for one in people]
    same = [talk("the same words", "ok", "again", user=f"u{n}", id=f"s{n}") for n in range(6)]
    return {
        "nobody at all": ([], []),
        "no simulated conversation": ([], people),
        "nobody": (people, []),
        "one user only": (alone, people),
        "one user each": (alone, alone),
        "no turn of the user": (silent, people),
        "no turn of any user": (silent, silent),
        "languages that do not meet": (people, chinese),
        "constant measures": (same, same),
        "one conversation": (people[:1], people),
        "no words": ([talk("", "", "...", user=f"u{n}", id=f"e{n}") for n in range(4)], people),
    }


@pytest.mark.parametrize("name", [
    "nobody at all", "no simulated conversation", "nobody", "one user only", "one user each", "no turn of the user",
    "no turn of any user", "languages that do not meet", "constant measures", "one conversation", "no words",
])  # fmt: skip
def test_poor_data_is_a_statement_and_never_a_crash_a_nan_or_a_warning(name, talk, tmp_path):
    sim, human = poor(talk)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = compare(sim, human, human, **QUICK)
        write(report, tmp_path)
        report.table().to_csv()
    json.dumps(report.model_dump(mode="json"), allow_nan=False)
    text = " ".join((*report.notes, *(row.reason for row in report.measures), report.discriminator.auc.reason))
    assert {row.name for row in report.measures} == {measure.name for measure in MEASURES}
    expected = {
        "nobody at all": "no conversation was given",
        "no simulated conversation": "no conversation was given",
        "nobody": "no conversation was given",
        "one user only": "one user only",
        "one user each": "one user only",
        "no turn of the user": "no text of the user",
        "no turn of any user": "no text of the user",
        "languages that do not meet": "languages differ",
        "one conversation": "one user only",
    }
    assert expected.get(name, "") in text
    assert "annotation in common" in text
    assert all(row.p is None or 0 < row.p <= 1 for row in report.measures)


def test_where_languages_do_not_meet_what_needs_no_words_is_compared(talk):
    sim, human = poor(talk)["languages that do not meet"]
    report = compare(sim, human, **QUICK)
    rows = {row.name: row for row in report.measures}
    assert (report.language, rows["turns"].effect) == (None, 1.0)
    assert "no common language" in rows["thanks"].reason


def test_users_are_those_that_a_sharegpt_file_names_and_without_names_the_report_says_so(tmp_path):
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
    report = compare(named, nameless, **QUICK)
    assert (report.sim.users, report.human.users) == (3, 9)
    notes = [note for note in report.notes if "do not name their user" in note]
    assert [note.split(" conv")[0] for note in notes] == ["People: 9 of 9"]
    assert compare(named, named, **QUICK).tasks == ("travel planning",)


@pytest.mark.heavy
def test_sides_that_differ_in_what_never_varies_on_either_are_told_apart(talk):
    sim, human = ([talk(text, "ok", user=f"u{n}", id=f"{n}") for n in range(6)] for text in ("a plan!", "a plan"))
    assert compare(sim, human, **QUICK).discriminator.auc.value == 1
    assert "differs" in compare(human, human, **QUICK).discriminator.auc.reason


FOREIGN = {
    "ru": "Здравствуйте, помогите пожалуйста, спасибо",
    "ja": "こんにちは、京都に行きたいです。ありがとうございます。",
    "es": "Hola, me gustaría viajar a Madrid con mis amigos en el mes de junio y no tengo mucho dinero, me puede "
    "recomendar un hotel barato cerca del centro de la ciudad",
}


@pytest.mark.heavy
@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_a_side_in_a_third_language_is_said_and_not_passed_off_as_english_or_chinese(text, talk):
    english = "I would like to go to the sea with my family, and I have no idea what we could do there. Can you help?"
    people = [talk(f"{english} {n}", "ok", user=f"h{n}") for n in range(4)]
    report = compare([talk(f"{text} {n}", "ok", user=f"s{n}") for n in range(4)], people)
    (note,) = [note for note in report.notes if "neither English nor Chinese" in note]
    assert note.startswith("Simulated: 4 of 4 conversations")
    assert not any("neither English" in note for note in compare(people, people).notes)


@pytest.mark.heavy
def test_of_a_message_that_nobody_wrote_by_hand_the_beginning_is_measured(talk):
    people = [talk(f"How far is the sea from {n}?", "ok", user=f"h{n}") for n in range(3)]
    beginning = "a b " * (MOST // 4)
    long, cut = ([talk(beginning + more, "ok", user="s", id="s")] for more in (" (((" * 200_000, ""))
    reports = [compare(sim, people, **QUICK) for sim in (long, cut)]
    assert reports[0].measures == reports[1].measures
    (note,) = {note for report in reports for note in report.notes if "characters or more" in note}
    assert note == "Simulated: messages of 50,000 characters or more, 1 of them: only so many are measured."


def test_two_users_a_side_give_no_interval_of_the_auc_and_no_chance_beyond_every_effect(talk):
    texts = ("How far is it?", "Thank you so much!", "Is there a train", "I see.")
    sides = [[talk(f"{texts[n]} {side}", "ok", user=f"{side}{n}") for n in range(first, first + 2)]
             for side, first in (("s", 0), ("h", 2))]  # fmt: skip
    report = compare(*sides)
    auc = report.discriminator.auc
    assert auc.value is not None
    assert (auc.low, auc.high, auc.reason) == (None, None, "too few users for an interval")
    assert all(row.chance <= 1 for row in report.measures if row.chance is not None)


def test_conversations_that_stand_on_both_sides_are_said(talk):
    sides = [[talk(f"Hello {n}", "ok", user=f"{side}{n}") for n in range(first, first + 4)]
             for side, first in (("s", 0), ("h", 2))]  # fmt: skip
    (note,) = [note for note in compare(*sides).notes if "Both groups hold" in note]
    assert "the same conversations, 2 of 4 simulated and 4 of people" in note


def test_a_reason_that_many_measures_share_is_one_line(talk):
    notes = compare([talk("Hello", "ok")], [talk("Hi", "ok", user="b"), talk("Ho", "ok", user="c")]).table().notes
    assert sum("one user only" in note for note in notes) == 1


def test_pages_show_what_there_is_of_nothing(talk):
    report = compare([], [], **QUICK)
    assert "There are none" in report_page(report, "a", "b")
    assert "not available" in report_page(report, "a", "b")


def test_half_of_a_surrogate_pair_in_a_message_is_compared_like_any_sign(two_sides):
    first, *others = two_sides[0]
    odd = first.messages[0].model_copy(update={"text": first.messages[0].text + " \udc00"})
    changed = first.model_copy(update={"messages": (odd, *first.messages[1:])})
    assert compare([changed, *others], two_sides[1], **QUICK).measures


@pytest.mark.heavy
def test_copies_without_a_name_count_as_one_user(talk):
    """Ten conversations a side, ten times over: without names they are ten users, and no surer than once."""

    def nameless(texts, number):
        return talk(*texts, id=f"{texts[0]}-{number}").model_copy(update={"extra": {}})

    sides = [[(f"{side} {n}", "Yes.", "ok" * (n + side)) for n in range(10)] for side in (0, 1)]
    settings = {"language": "en", "measures": MEASURES[:2], "shufflings": 400}
    once = compare(*([nameless(texts, 0) for texts in side] for side in sides), **settings)
    often = compare(*([nameless(texts, n) for texts in side for n in range(10)] for side in sides), **settings)
    assert (often.sim.users, often.human.users) == (10, 10)
    assert [row.p for row in often.measures] == pytest.approx([row.p for row in once.measures], abs=0.1)
    assert any("90 of 100 conversations name no user and are word for word copies" in note for note in often.notes)
    named = [talk(*texts, user=f"{n}-{texts[0]}") for texts in sides[0] for n in range(2)]
    assert compare(named, named, **settings).sim.users == 20
