"""No label is shown without its trust, wherever one is shown: every command is driven over a labelled data set, and every
module that reads labels is known."""

import ast
import json
import re
from html import unescape
from pathlib import Path

import pytest

from duologue import load, views
from duologue.analysis.trust import NOT_CALIBRATED
from duologue.cli.commands import app
from duologue.views.notebook import list_html, loaded_html

ROOT = Path(__file__).parent.parent.parent

MARK = re.compile(r"κ -?\d|AC1 -?\d|people's|not calibrated|computed")
"""How far a label can be trusted, in any of its forms."""

LABEL, VALUE, OF_REPLY = "zeal", "verve", "glee"
"""Names and a value that nothing else has: where one of them is shown, a label is."""

READING = {
    "analysis/agreement/reading.py": "is the measure of trust",
    "analysis/agreement/abstaining.py": "is the measure of trust",
    "analysis/annotations.py": "reads, and shows nothing",
    "analysis/attempts.py": "who answered, a fact",
    "analysis/identification/intents.py": "a note of `stats intents`",
    "analysis/identification/mixture.py": "a note of `profiles identify`",
    "analysis/identification/settings.py": "a note of `profiles identify`",
    "analysis/identification/vocabulary.py": "a note of `profiles identify`",
    "analysis/judges/turns.py": "notes of `stats judges` and `stats satisfaction`",
    "analysis/junit.py": "a property of the suite",
    "analysis/label_counts.py": "a column of `stats SRC`",
    "analysis/label_values.py": "reads, and shows nothing",
    "analysis/outcomes.py": "reads, and shows nothing",
    "analysis/realism/measures/__init__.py": "columns of the report",
    "analysis/realism/measures/labels.py": "columns of the report",
    "analysis/realism/measures/transcripts.py": "columns of the report",
    "analysis/realism/comparing.py": "columns of the report",
    "analysis/recllmsim/behaviour.py": "a column",
    "analysis/recllmsim/judgements.py": "a column",
    "analysis/recllmsim/profiles.py": "notes",
    "analysis/recllmsim/quality.py": "a column, or notes",
    "analysis/recllmsim/satisfaction.py": "notes",
    "analysis/recllmsim/talks.py": "who answered, a fact; the note itself",
    "analysis/scored.py": "is the measure of trust",
    "analysis/simquac/teacher.py": "the question of QuAC, a fact",
    "analysis/success.py": "a note of `duologue test`",
    "analysis/testers/learnt.py": "a note of `testers`",
    "analysis/testers/meetings.py": "notes of `testers`",
    "analysis/testers/plain.py": "a note of `testers`",
    "analysis/testers/rated.py": "a note of `testers`",
    "analysis/trust.py": "is the measure of trust",
    "cli/annotate.py": "says that what it wrote is not calibrated",
    "cli/stats_recllmsim.py": "asks whether there is any",
    "cli/success_report.py": "the note of success",
    "cli/trying.py": "notes of `testers`",
    "cli/label_work.py": "beside what the data says",
    "views/label_filters.py": "the list of conversations: beside each label",
    "views/labels.py": "the page of a conversation: beside each label",
    "views/run.py": "beside success",
    "views/parts.py": "reads images, no labels",
}
"""Each module that reads labels, and where their trust is told."""

READERS = {
    "annotations_of",
    "of_message",
    "of_conversation",
    "labels_of",
    "parts_of",
    "score_of",
    "satisfaction_of",
    "outcome",
}
DEFINED = {"label", "labels"}
"""Names of definitions of labels, which have `.labels` of their own."""


def reads_labels(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "labels":
            holder = node.value
            if not (
                isinstance(holder, ast.Name)
                and holder.id in ("self", "settings", "mixture", "statistics", "transcript")
            ):
                return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READERS:
            return True
    return False


def test_every_module_that_reads_labels_is_known_with_the_place_of_their_trust():
    found = {
        path.relative_to(ROOT).as_posix()
        for room in ("analysis", "views", "cli")
        for path in (ROOT / room).rglob("*.py")
        if reads_labels(path)
    }
    assert found - READING.keys() == set(), "say in READING where it tells how far to trust what it shows"


SHOWING = {"show", "compare", "test", "stats", "agreement", "annotate", "label", "testers", "profiles"}
"""Commands that show labels: driven here, or by the tests of their own."""
OTHERS = {
    "convert": "writes data", "repair": "writes data", "simulate": "labels nothing but success, as `test`", "demo": "has no label",
    "check": "findings of rules", "validators": "verdicts of rules", "next-turn": "compares texts, reads no label",
    "tune": "searches by measures that are none of labels", "readers": "answers, no labels", "topics": "texts", "tasks": "texts",
    "draw": "a graph", "doctor": "versions", "runs": "folders",
}  # fmt: skip
"""The other ones, and why none of them shows a label."""


def test_every_command_is_known_for_showing_labels_or_none():
    from typer.main import get_group

    assert set(get_group(app).commands) == SHOWING | OTHERS.keys()


def lines(path, side, users=8):
    """Conversations of eight users with labels of their own, of half of which people labelled too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for n in range(users * 2):
            labels = {LABEL: VALUE if n % 3 else "languor"} | (
                {f"{LABEL}_human": VALUE} if side == "people" and n % 2 else {}
            )
            line: dict[str, object] = {"id": f"{side}{n}", "user": f"{side}-{n % users}", "labels": labels}
            line |= {
                "messages": [
                    {
                        "role": "user",
                        "content": f"I want {'a train to Rome' if n % 2 else 'one good museum'}, number {n}.",
                    },
                    {"role": "assistant", "content": "Yes.", "labels": {OF_REPLY: n % 4}},
                ]
            }
            file.write(json.dumps(line) + "\n")
    return path


@pytest.fixture
def labelled(tmp_path):
    return lines(tmp_path / "in" / "people.jsonl", "people"), lines(tmp_path / "in2" / "simulated.jsonl", "simulated")


def shown_in(text):
    """A page's own text, as a reader has it: what its rows unfold into too."""
    from base64 import b64decode
    from zlib import decompress

    packed = (decompress(b64decode(each)).decode() for each in re.findall(r'class="packed">([^<]*)<', text))
    return unescape(re.sub(r"<(style|script)\b.*?</\1>", " ", text, flags=re.S)), *map(unescape, packed)


def holds(text):
    """Rows, lines or objects of a text that name the label, each with what belongs to it."""
    rows = re.findall(r"<tr\b.*?</tr>", text, re.S) if "<tr" in text else text.splitlines()
    return [row for row in rows if LABEL in row or OF_REPLY in row]


def test_pages_of_a_data_set_and_of_one_conversation(duologue, labelled, tmp_path):
    people, _ = labelled
    assert duologue("show", people, "--out", "list.html")[0] == 0
    assert duologue("show", people, "--id", "people1", "--out", "one.html")[0] in (0, 2)
    assert duologue("show", people, "--id", "people15", "--out", "one.html")[0] == 0
    assert duologue("show", people, "--out", "many.html", "--in-one-file", 3)[0] == 0
    seen = 0
    for path in tmp_path.rglob("*.html"):
        for text in shown_in(path.read_text(encoding="utf-8")):
            for row in holds(text):
                assert MARK.search(re.sub("<[^>]*>", " ", row)), (path.name, row)
                seen += 1
    assert seen >= 3 * 16
    told = re.search(r'class="labelled">(.*?)</script>', (tmp_path / "list.html").read_text(encoding="utf-8"))
    assert all(MARK.search(label["trust"]) for label in json.loads(told[1]))


def test_pages_side_by_side_show_no_label(duologue, labelled, tmp_path):
    people, simulated = labelled
    assert duologue("show", people, "--against", simulated, "--out", "both.html")[0] == 0
    for text in shown_in((tmp_path / "both.html").read_text(encoding="utf-8")):
        assert not holds(text)


def test_notebooks(labelled):
    loaded = load(labelled[0])
    talks = list(loaded.conversations)
    for html in (loaded_html(loaded), list_html(talks), views.Page.of(talks[1], "x")._repr_html_()):
        rows = holds(html)
        assert rows
        assert all(MARK.search(unescape(re.sub("<[^>]*>", " ", row))) for row in rows)


def test_the_realism_report_its_card_and_its_table(duologue, labelled, tmp_path):
    pytest.importorskip("sklearn")
    people, simulated = labelled
    code, out, err = duologue("compare", simulated, people, "--out", "out")
    assert code == 0, err
    for name in ("report.json", "card.json"):
        rows = json.loads((tmp_path / "out" / name).read_text())["measures"]
        named = [row for row in rows if row["name"].split(":")[0] in (LABEL, OF_REPLY)]
        assert named, name
        assert all(MARK.search(row["trust_sim"]) and MARK.search(row["trust_human"]) for row in named)
    for path in (tmp_path / "out").glob("*.html"):
        for text in shown_in(path.read_text(encoding="utf-8")):
            for row in holds(text):
                assert MARK.search(re.sub("<[^>]*>", " ", row)), (path.name, row)
    printed = " ".join(out.split())
    assert f"Trust in {OF_REPLY}: {NOT_CALIBRATED}." in printed
    assert re.search(rf"Trust in {LABEL}: simulated not calibrated, people AC1 0\.\d\d.*?, n 8\.", printed)


@pytest.mark.parametrize("command", ["intents", "judges", "satisfaction"])
def test_what_is_measured_by_people_s_labels_says_that_they_are_people_s(duologue, open_data, command):
    pytest.importorskip("sklearn")
    of = {
        "intents": ("recllmsim_human_vs_agent", "--model", "logistic", "intent"),
        "judges": ("recllmsim_human_vs_agent/human_exp_V2", "satisfaction"),
        "satisfaction": (
            "recllmsim_human_vs_agent/human_exp_V2",
            "--model",
            "logistic",
            "--task",
            "binary",
            "satisfaction",
        ),
    }[command]
    code, out, err = duologue("stats", command, open_data / of[0], *of[1:-1], "--json")
    assert code == 0, err
    assert f"Trust in {of[-1]}: people's." in out


def test_in_a_part_of_a_copy_that_was_annotated_nothing_that_was_written_is_people_s(duologue, tmp_path):
    lines(tmp_path / "copy" / "a" / "people.jsonl", "people")
    (tmp_path / "copy" / "annotation").mkdir()
    (tmp_path / "copy" / "annotation" / "settings.jsonl").write_text(json.dumps({"labels": {f"{LABEL}_human": {}}}))
    assert duologue("show", "copy/a/people.jsonl", "--out", "part.html")[0] == 0
    rows = [row for text in shown_in((tmp_path / "part.html").read_text(encoding="utf-8")) for row in holds(text)]
    assert rows
    assert not any("people's" in re.sub("<[^>]*>", " ", row) for row in rows)
