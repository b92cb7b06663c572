"""The report of two sources: what it compares, what it says when it cannot, and what it writes."""

import html
import json
import random

import pytest

from duologue.analysis.realism import compare, part_of
from duologue.analysis.realism.matching import matched
from duologue.analysis.realism.measures import MEASURES, Measure
from duologue.cli.people.compare import _mean_distances
from duologue.data import load, messages
from duologue.views.realism.report import FILES, report_page, write
from tests.analysis.realism.courtesies import QUICK, side

ROWS = {
    "name", "family", "unit", "sim", "human", "floor", "published", "effect", "distance", "ci_low", "ci_high", "p",
    "p_adjusted", "survives_translation",
}  # fmt: skip


def test_anybodys_conversations_are_compared_and_the_planted_courtesies_stand_first(two_sides):
    report = compare(two_sides[0], two_sides[1], two_sides[1], **QUICK)
    assert len(repr(report)) < 200
    assert report.language == "en"
    effects = {row.name: row.effect for row in report.measures}
    assert (effects["thanks"], effects["greeting"], effects["exclamation"], effects["digits"]) == (1, 1, 1, 0)
    excess = [round(row.excess, 2) for row in report.measures if row.excess is not None and row.excess > 0]
    assert excess == sorted(excess, reverse=True)
    thanks = next(row for row in report.measures if row.name == "thanks")
    assert (thanks.sim, thanks.human, thanks.effect) == (0.5, 0.0, 1.0)
    assert (thanks.sim_users, thanks.human_users) == (6, 6)
    assert thanks.p_adjusted <= 0.05
    assert thanks.floor == 0
    assert thanks.published == 0
    assert thanks.examples_sim[0].text.startswith(("Hello!", "Thank you"))
    assert len({example.user for example in thanks.examples_sim}) == 3
    assert report.discriminator.auc.value == 1


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.heavy)])
def test_the_same_conversations_give_the_same_report_in_any_order(seed, open_sides):
    """Messages, people who answer surveys, published ones and references, with users of several conversations."""
    simulated, people = open_sides
    sides = [simulated[:20], people[:25], simulated[20:35], people[25:40]]
    rng = random.Random(seed)
    shuffled = [rng.sample(side, len(side)) for side in sides]
    assert shuffled != sides
    one, two = (compare(*of_sides[:3], references={"others": of_sides[3]}, **QUICK) for of_sides in (sides, shuffled))
    assert one.model_dump_json() == two.model_dump_json()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.heavy)])
def test_a_file_in_any_order_of_lines_gives_the_same_report(seed, two_sides, tmp_path):
    """With ids that are not unique, nameless users, two assistants and ratings."""
    rng = random.Random(seed)
    reports = []
    for order in ("as it is", "shuffled"):
        sides = []
        for name, conversations in zip(("sim", "people"), two_sides, strict=True):
            dialogues = [
                [{"role": one.role, "content": one.text} for one in talked.messages] for talked in conversations
            ]
            lines = [
                json.dumps(
                    {"messages": dialogue, "assistant": "ab"[n // 2 % 2], "rating": n % 4, "id": f"{n % 24}"}
                    | ({"user": f"u{n % 7}"} if n % 3 else {})
                )
                for n, dialogue in enumerate([*dialogues, *dialogues[:4]])
            ]
            if order == "shuffled":
                rng.shuffle(lines)
            path = tmp_path / f"{name} {order}.jsonl"
            path.write_text("\n".join(lines) + "\n")
            sides.append(load(path).conversations)
        reports.append(compare(*sides, **QUICK).model_dump_json())
    assert reports[0] == reports[1]


@pytest.mark.heavy
def test_what_is_written_is_json_without_nan_and_a_page_without_network(two_sides, tmp_path):
    hostile = two_sides[0][0].model_copy(update={"id": "<script>alert(1)</script>"})
    report = compare([hostile, *two_sides[0][1:]], two_sides[1], **QUICK)
    paths = write(report, tmp_path, name="<b>mine</b>", against="people")
    assert [path.name for path in paths] == list(FILES)
    value = json.loads((tmp_path / "report.json").read_text(), parse_constant=pytest.fail)
    assert all(row.keys() >= ROWS for row in value["measures"])
    assert [row["name"] for row in value["measures"]] == [row.name for row in report.measures]
    text = (tmp_path / "report.html").read_text()
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "<b>mine" not in text
    assert "http" not in text.replace("http-equiv", "")
    assert "no overall score" in text
    assert text.count("<svg") == 4  # both figures, wide and narrow


@pytest.mark.heavy
def test_the_frame_has_a_row_for_each_measure(two_sides):
    report = compare(*two_sides, **QUICK)
    frame = report.frame()
    assert list(frame["name"]) == [row.name for row in report.measures]
    assert "Least like people first" in report.table().to_markdown()


def test_a_table_of_equal_sides_ranks_nothing_and_leaves_out_what_neither_tells(two_sides):
    report = compare(two_sides[1], two_sides[1], **QUICK)
    shown, whole = report.table(untold=False), report.table()
    assert shown.title == whole.title == "No ranked measure differs"
    untold = [row.name for row in report.measures if row.reason and row.sim is row.human is None]
    assert untold
    assert [row[0] for row in shown.rows] == [row[0] for row in whole.rows if row[0] not in untold]
    assert all(any(name in note for note in shown.notes) for name in untold)


def test_one_reason_of_all_ranked_measures_is_told_without_their_names(two_sides):
    report = compare(*two_sides, **QUICK)
    rows = [row.model_copy(update={"no_interval": "too few" if row.is_ranked else ""}) for row in report.measures]
    assert "All ranked measures: too few." in report.model_copy(update={"measures": tuple(rows)}).remarks


@pytest.mark.heavy
def test_what_one_user_only_has_is_not_counted_as_ranked(two_sides):
    def length_of_one_user(transcript):
        return float(len(transcript.texts[0])) if transcript.cluster == "u1" else None

    rare = Measure(name="of one user", definition="The length.", unit="characters", of_conversation=length_of_one_user)
    report = compare(*two_sides, measures=(*MEASURES, rare), **QUICK)
    row = next(row for row in report.measures if row.name == rare.name)
    assert row.distance is not None
    assert not row.is_ranked
    ranked = [row for row in report.measures if row.is_ranked]
    assert f"over {len([row for row in ranked if row.distance is not None])} ranked measures" in _mean_distances(report)
    assert rare.name not in {name for pair in report.correlated for name in (pair.first, pair.second)}
    thanks = next(row for row in ranked if row.name == "thanks")
    cells = [thanks.sim_users, thanks.sim_conversations, thanks.human_users, thanks.human_conversations]
    assert "".join(f'<td class="n">{cell}</td>' for cell in cells) in report_page(report)


@pytest.mark.heavy
def test_a_user_is_in_one_part_for_good(two_sides):
    parts = {part_of(f"u{n}") for n in range(20)}
    assert parts == {"tune", "test"}
    tune, test = (compare(*two_sides, part=part, **QUICK) for part in ("tune", "test"))
    assert tune.human.users + test.human.users == 6
    assert tune.sim.users == 6
    assert (tune.part, test.part) == ("tune", "test")
    assert any("part 'tune'" in note for note in tune.notes)


@pytest.mark.heavy
def test_tasks_are_matched_by_name_and_others_are_listed(talk):
    sim = side(talk, 12, True, task="travel planning") + side(talk, 3, True, task="chess")
    report = compare(sim, side(talk, 12, False, task="旅行规划"), **QUICK)
    assert report.tasks == ("travel planning",)
    assert report.sim.compared == 12
    assert any("chess" in note and "not compared" in note for note in report.notes)
    nothing = compare(side(talk, 4, True, task="a"), side(talk, 4, False, task="b"), **QUICK)
    assert any("none in common" in note for note in nothing.notes)


def test_a_task_that_one_side_does_not_tell_makes_one_task_of_all(talk):
    report = compare(side(talk, 6, True, task="travel planning"), side(talk, 6, False), **QUICK)
    assert report.tasks == ("all",)
    assert any("one task" in note for note in report.notes)


@pytest.mark.heavy
def test_what_a_translation_destroys_stands_apart(open_sides):
    simulated, people = open_sides
    sources = matched(simulated, people, None, None, "all")
    assert sources.language == "zh"
    assert any("translation into Chinese" in note for note in sources.notes)
    report = compare(simulated[:40], people[:60], **QUICK)
    apart = {row.name: row.apart for row in report.measures}
    assert (apart["punctuation"], apart["thanks"], apart["hallucination"]) == ("translation", "", "annotation")
    places = [bool(row.apart) for row in report.measures if row.excess is not None]
    assert places == sorted(places)
    assert compare(people[:30], people[30:60], **QUICK).measures[0].apart == ""


def with_labels(path, sides, satisfaction, intents):
    """A file of messages of these conversations with labels: the replies' satisfaction, each first message's intent."""
    lines = []
    for number, one in enumerate(sides):
        messages = [{"role": message.role, "content": message.text} for message in one.messages]
        messages[1]["satisfaction"] = satisfaction[number % len(satisfaction)]
        messages[0]["labels"] = {"intent": intents[number % len(intents)], "tone": ["calm", "brisk"][number % 2]}
        lines.append(json.dumps({"user": f"u{number % 6}", "messages": messages}) + "\n")
    path.write_text("".join(lines))
    return load(path).conversations


@pytest.mark.heavy
def test_labels_in_messages_are_compared_where_both_sides_have_the_same_values(two_sides, tmp_path):
    simulated = with_labels(tmp_path / "sim.jsonl", two_sides[0], [5, 4], ["search", "plan"])
    people = with_labels(tmp_path / "human.jsonl", two_sides[1], [1, 2.5], ["plan"])
    report = compare(simulated, people, **QUICK)
    rows = {row.name: row for row in report.measures if row.apart == "annotation"}
    satisfaction, intent, tone = (rows.pop(name) for name in ("satisfaction", "intent", "tone"))
    assert not rows
    assert (satisfaction.sim, satisfaction.human, satisfaction.effect) == (4.5, 1.75, 1)
    assert tone.effect is not None
    assert intent.reason == "the sides have different values: 'search' on the simulated side alone"
    assert intent.effect is intent.sim is intent.human is intent.p is intent.p_adjusted is None
    assert intent.reason in html.unescape(report_page(report))


@pytest.mark.heavy
def test_the_value_of_a_label_in_a_reason_is_shown_as_text(two_sides, tmp_path):
    simulated = with_labels(tmp_path / "sim.jsonl", two_sides[0], [5], ["<b>x</b>", "plan"])
    people = with_labels(tmp_path / "human.jsonl", two_sides[1], [5], ["plan"])
    page = report_page(compare(simulated, people, **QUICK))
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "<b>x</b>" not in page


def test_conversations_that_are_of_the_other_side_are_named(open_sides):
    simulated, people = (side[:4] for side in open_sides)
    notes = compare(people, simulated, **QUICK).notes
    assert [note.split(" conv")[0] for note in notes if "check that this is intended" in note] == [
        "Simulated: 4 of 4",
        "People: 4 of 4",
    ]


def test_no_number_is_dust_or_a_zero_with_a_sign(two_sides):
    text = json.dumps(compare(two_sides[1], two_sides[1], **QUICK).model_dump(mode="json"))
    assert "-0.0," not in text
    assert "e-16" not in text


@pytest.mark.heavy
def test_the_command_compares_two_files_and_writes_the_report(two_sides, duologue_command, tmp_path):
    files = []
    for name, conversations in zip(("sim", "people"), two_sides, strict=True):
        lines = [messages.FORM.written(one) | {"user": one.extra["user"]} for one in conversations]
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, err = duologue_command("compare", *files, "--out", tmp_path / "out", "--json")
    assert code == 0, err
    value = json.loads(out)
    assert value["sim"]["users"] == 6
    assert abs(value["measures"][0]["effect"]) == 1
    assert "report.html" in err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
    code, out, _ = duologue_command("compare", *files, "--part", "tune")
    assert code == 0
    assert "not usefulness for testing" in out
    assert duologue_command("compare", tmp_path / "none", files[0])[0] == 2
