"""`duologue compare`: several references, what it prints of the AUC, and what it says of wrong input."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
from duologue.analysis.realism import RealismRow

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def people(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of conversations of ten users, who all end with these words; gives its path."""

    def written(name: str, words: str, conversations: int = 20) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        wishes = ("a train to Rome in May", "a hotel near the sea", "one good museum", "a quiet walk by night")
        lines = [
            {
                "id": f"{name}-{number}",
                "user": f"{name}-{number % 10}",
                "messages": [
                    {"role": "user", "content": f"I want {wishes[number % 4]} {number}. {words}"},
                    {"role": "assistant", "content": "Yes."},
                ],
            }
            for number in range(conversations)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return written


@pytest.mark.heavy
def test_each_reference_stands_in_the_table_the_auc_and_the_files_by_its_own_name(
    duologue: Command, people: Callable[..., Path], tmp_path: Path
) -> None:
    sim, human = people("sim.jsonl", "Thank you so much!"), people("people.jsonl", "ok")
    references = [people("[red]/study.jsonl", "well"), people("second/study.jsonl", "Thank you")]
    options = [part for path in references for part in ("--reference", path)]
    code, out, err = duologue("compare", sim, human, *options, "--out", tmp_path / "out")
    assert code == 0, err
    for line in (
        "Distinguished by these measures (AUC): ", "Without the measures of length: ", "People from people: ",
        "Reference [red]/study.jsonl from the people: ", "Simulated users from reference second/study.jsonl: ",
    ):  # fmt: skip
        assert sum(printed.startswith(line) for printed in out.splitlines()) == 1, line
    assert re.search(r"^People from people: \d\.\d\d, their halves from \d\.\d\d to \d\.\d\d$", out, re.MULTILINE)
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert list(report["references"]) == ["[red]/study.jsonl", "second/study.jsonl"]
    thanks = RealismRow(**next(row for row in report["measures"] if row["name"] == "thanks"))
    assert (thanks.between_references or 0) > (thanks.floor or 0)
    heading = next(line for line in out.splitlines() if line.startswith("measure "))
    shown = next(line for line in out.splitlines() if line.startswith("thanks "))
    column = heading.replace("p adjusted", "p_adjusted").split().index("people")
    assert float(shown.split()[column]) == round(thanks.between_people or 0, 2) == 1


@pytest.mark.heavy
def test_a_reference_that_holds_the_conversations_of_a_side_is_said_in_one_line(
    duologue: Command, people: Callable[..., Path]
) -> None:
    sim, human = people("sim.jsonl", "Thank you so much!"), people("people.jsonl", "ok")
    code, out, _ = duologue("compare", sim, human, "--reference", human, "--reference", sim, "--json")
    assert code == 0
    notes = [note for note in json.loads(out)["notes"] if note.startswith("Reference") and "also those" in note]
    assert [note.partition(" so the")[0] for note in notes] == [
        "Reference 'people.jsonl': 20 of its 20 conversations are also those of the people,",
        "Reference 'sim.jsonl': 20 of its 20 conversations are also those of the simulated users,",
    ]


def test_a_reference_that_is_not_there_is_one_line(duologue: Command, people: Callable[..., Path]) -> None:
    sim = people("sim.jsonl", "Thank you!")
    code, out, err = duologue("compare", sim, sim, "--reference", sim.with_name("nowhere"))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "nowhere" in err


@pytest.mark.heavy
def test_a_file_against_itself_is_said_to_be_the_same_and_is_not_told_apart(
    duologue: Command, people: Callable[..., Path]
) -> None:
    sim = people("sim.jsonl", "Thank you!", conversations=40)
    code, out, _ = duologue("compare", sim, sim, "--json")
    report = json.loads(out)
    assert code == 0
    assert any("two sides are the same" in note for note in report["notes"])
    auc = report["discriminator"]["auc"]
    assert auc["low"] <= 0.5 <= auc["high"]


@pytest.mark.heavy
def test_users_made_from_people_stand_beside_the_others_unless_they_are_left_out(
    duologue: Command, people: Callable[..., Path], tmp_path: Path
) -> None:
    sim = people("sim.jsonl", "Thank you so much!")
    human = tmp_path / "many.jsonl"
    lines = [
        {
            "id": f"h{number}",
            "user": f"person {number}",
            "goal": f"a trip to place {number % 5}",
            "messages": [
                {"role": "user", "content": f"I look for place {number % 5}, {number} days."},
                {"role": "assistant", "content": "Yes."},
            ],
        }
        for number in range(60)
    ]
    human.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, err = duologue("compare", sim, human, "--part", "test", "--out", tmp_path / "out")
    assert code == 0, err
    assert "users made from people, as a baseline (--no-baseline: none)" in err
    assert "\nIn a terminal of 120 columns, in --json and in --out: made, p adjusted" in out
    assert sum(line.startswith("Users made from people: ") for line in out.splitlines()) == 1
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert report["made"]["conversations"] == report["human"]["compared"]
    assert report["discriminator"]["made"]["value"] < report["discriminator"]["auc"]["value"]
    assert any(note.startswith("Retrieval-based users: ") for note in report["notes"])
    assert "retrieval-based users" in (tmp_path / "out/report.html").read_text()
    code, out, err = duologue("compare", sim, human, "--part", "test", "--no-baseline", "--json")
    report = json.loads(out)
    assert (code, report["made"], report["discriminator"]["made"]) == (0, None, None)
    assert "made" not in err


@pytest.mark.heavy
def test_where_no_user_can_be_made_from_people_a_note_says_why(duologue: Command, people: Callable[..., Path]) -> None:
    code, out, _ = duologue("compare", people("sim.jsonl", "Thanks!"), people("people.jsonl", "ok"), "--json")
    report = json.loads(out)
    assert (code, report["made"]) == (0, None)
    assert [note for note in report["notes"] if note.startswith("Retrieval-based users: none as a baseline")]


@pytest.mark.heavy
def test_of_a_large_group_drawn_users_are_compared_and_the_report_notes_their_number(
    duologue: Command, people: Callable[..., Path]
) -> None:
    command = ("compare", people("sim.jsonl", "Thank you!"), people("people.jsonl", "ok"), "--no-baseline", "--json")
    reports = [json.loads(duologue(*command, *more)[1]) for more in ((), ("--draw", 12), ("--draw", 12))]
    assert reports[1] == reports[2]
    assert [report["sim"]["compared"] for report in reports] == [20, 12, 12]
    assert reports[1]["human"]["users"] == 6
    drawn = "12 of 20 conversations are taken, those of 6 of 10 users, drawn with seed 0: at most 12 of a source are."
    assert reports[1]["notes"][:2] == [f"Simulated: {drawn}", f"People: {drawn}"]
    assert not any("drawn" in note for note in reports[0]["notes"])
