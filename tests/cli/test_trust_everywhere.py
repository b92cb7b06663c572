"""No label is shown without its trust, wherever one is shown: every command is driven over a labelled data set, and what
annotators wrote comes with the data."""

import json
import re
from html import unescape
from shutil import copytree

import pytest

import duologue as package
from duologue import load, views
from duologue.analysis.labels.reliability import NOT_CALIBRATED
from duologue.views.notebook import list_html, loaded_html

MARK = re.compile(r"κ -?\d|AC1 -?\d|people's|not calibrated|computed")
"""How far a label can be trusted, in any of its forms."""

LABEL, VALUE, OF_REPLY = "zeal", "verve", "glee"
"""Names and a value that nothing else has: where one of them is shown, a label is."""


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

    packed = (
        decompress(b64decode(packed_text)).decode() for packed_text in re.findall(r'class="packed">([^<]*)<', text)
    )
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
    match = re.search(r'class="labelled">(.*?)</script>', (tmp_path / "list.html").read_text(encoding="utf-8"))
    assert all(MARK.search(label["trust"]) for label in json.loads(match[1]))


def test_pages_side_by_side_show_no_label(duologue, labelled, tmp_path):
    people, simulated = labelled
    assert duologue("show", people, "--beside", simulated, "--out", "both.html")[0] == 0
    for text in shown_in((tmp_path / "both.html").read_text(encoding="utf-8")):
        assert not holds(text)


def test_notebooks(labelled):
    loaded = load(labelled[0])
    talks = list(loaded.conversations)
    for html in (loaded_html(loaded), list_html(talks), views.HtmlPage.of(talks[1], "x")._repr_html_()):
        rows = holds(html)
        assert rows
        assert all(MARK.search(unescape(re.sub("<[^>]*>", " ", row))) for row in rows)


def test_the_realism_report_and_its_table(duologue, labelled, tmp_path):
    pytest.importorskip("sklearn")
    people, simulated = labelled
    code, out, err = duologue("compare", simulated, people, "--out", "out")
    assert code == 0, err
    rows = json.loads((tmp_path / "out" / "report.json").read_text())["measures"]
    named = [row for row in rows if row["name"].split(":")[0] in (LABEL, OF_REPLY)]
    assert named
    assert all(MARK.search(row["trust_sim"]) and MARK.search(row["trust_human"]) for row in named)
    for path in (tmp_path / "out").glob("*.html"):
        for text in shown_in(path.read_text(encoding="utf-8")):
            for row in holds(text):
                assert MARK.search(re.sub("<[^>]*>", " ", row)), (path.name, row)
    printed = " ".join(out.split())
    assert f"Trust in {OF_REPLY}: {NOT_CALIBRATED}." in printed
    assert re.search(rf"Trust in {LABEL}: simulated not calibrated, people AC1 0\.\d\d.*?, n 8\.", printed)


@pytest.fixture
def ten_people(open_data, tmp_path):
    """The conversations of ten people with their labels: of all, judges and scores take seconds."""
    for user in sorted((open_data / "recllmsim_human_vs_agent/human_exp_V2").iterdir())[:10]:
        copytree(user, tmp_path / "human_exp_V2" / user.name)
    return tmp_path / "human_exp_V2"


@pytest.mark.parametrize("command", ["intents", "judges", "satisfaction"])
def test_what_is_measured_by_people_s_labels_says_that_they_are_people_s(duologue, open_data, ten_people, command):
    pytest.importorskip("sklearn")
    of = {
        "intents": ("recllmsim_human_vs_agent", "--model", "logistic", "intent"),
        "judges": (ten_people, "satisfaction"),
        "satisfaction": (
            ten_people,
            "--model",
            "logistic",
            "--target",
            "binary",
            "satisfaction",
        ),
    }[command]
    code, out, err = duologue("recllmsim", command, open_data / of[0], *of[1:-1], "--json")
    assert code == 0, err
    assert f"Trust in {of[-1]}: people's." in out


@pytest.fixture
def part(tmp_path):
    """A part of an annotated copy: what annotators wrote has the name of people's label."""
    path = lines(tmp_path / "copy" / "a" / "people.jsonl", "people")
    (tmp_path / "copy" / "annotation").mkdir()
    (tmp_path / "copy" / "annotation" / "settings.jsonl").write_text(json.dumps({"labels": {f"{LABEL}_human": {}}}))
    return path


def test_in_a_part_of_a_copy_that_was_annotated_nothing_that_was_written_is_people_s(duologue, part, tmp_path):
    assert duologue("show", part, "--out", "part.html")[0] == 0
    assert duologue("show", part, "--id", "people15", "--out", "one.html")[0] == 0
    assert duologue("show", part, "--in-one-file", 3, "--out", "many.html")[0] == 0
    package.show(part, out=tmp_path / "python.html")
    package.show(load(part), out=tmp_path / "loaded.html")
    pages = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")]
    assert len(pages) == 21
    for page in (*pages, loaded_html(load(part)), package.show(part)._repr_html_()):
        rows = [row for text in shown_in(page) for row in holds(text)]
        assert not any("people's" in re.sub("<[^>]*>", " ", row) for row in rows)


def test_a_comparison_with_a_part_of_a_copy_takes_nothing_that_was_written_for_people_s(duologue, part, labelled):
    pytest.importorskip("sklearn")
    people, _ = labelled
    for report in (
        json.loads(duologue("compare", people, part, "--json")[1]),
        package.compare(people, part).model_dump(mode="json"),
    ):
        (row,) = (row for row in report["measures"] if row["name"] == f"{LABEL} human")
        assert (row["trust_sim"], row["trust_human"]) == ("people's", NOT_CALIBRATED)
