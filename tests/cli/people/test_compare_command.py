"""`duologue compare`: what it prints and writes, several references, drawn users, and what it says of wrong input."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
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
def test_the_report_is_printed_with_references_and_examples_and_written(
    duologue: Command, people: Callable[..., Path], tmp_path: Path
) -> None:
    sim, human = people("sim.jsonl", "Thank you so much!"), people("people.jsonl", "ok")
    references = [people("[red]/study.jsonl", "well"), people("second/study.jsonl", "Thank you")]
    options = [part for path in references for part in ("--reference", path)]
    code, out, err = duologue("compare", sim, human, *options, "--examples", 1, "--out", tmp_path / "out")
    assert code == 0, err
    assert out.count("thanks, simulated: ") == out.count("thanks, people: ") == 1
    assert "A model tells them apart: AUC 1.00" in out
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert list(report["references"]) == list(report["auc_references"]) == ["[red]/study.jsonl", "second/study.jsonl"]
    thanks = next(row for row in report["rows"] if row["name"] == "thanks")
    assert (thanks["effect"]["value"], thanks["differs"], thanks["references"]["second/study.jsonl"]) == (1, True, 1)
    page = (tmp_path / "out/report.html").read_text()
    assert "<script" not in page
    assert "blockquote" in page


def test_a_reference_that_is_not_there_is_one_line(duologue: Command, people: Callable[..., Path]) -> None:
    sim = people("sim.jsonl", "Thank you!")
    code, out, err = duologue("compare", sim, sim, "--reference", sim.with_name("nowhere"))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "nowhere" in err


@pytest.mark.heavy
def test_of_a_large_side_drawn_users_are_compared_and_the_report_notes_their_number(
    duologue: Command, people: Callable[..., Path]
) -> None:
    command = ("compare", people("sim.jsonl", "Thank you!"), people("people.jsonl", "ok"), "--json")
    reports = [json.loads(duologue(*command, *more)[1]) for more in ((), ("--draw", 12), ("--draw", 12))]
    assert reports[1] == reports[2]
    assert [report["simulated"]["compared"] for report in reports] == [20, 12, 12]
    assert [note.partition(",")[0] for note in reports[1]["notes"][:2]] == [
        "Simulated: 12 of 20 conversations are taken",
        "People: 12 of 20 conversations are taken",
    ]
