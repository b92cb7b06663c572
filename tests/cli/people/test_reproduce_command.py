"""`duologue reproduce`: the figures of README and of the pages on people, measured again."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from duologue.errors import DataError
from duologue.studies.reproduction import printed
from duologue.studies.reproduction.claims import CLAIMS, reproduce

Command = Callable[..., tuple[int, str, str]]
LONG = 3
"""Minutes from which on a claim is measured by `make test-long` only."""


@pytest.mark.heavy
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (one.minutes >= LONG)) for name, one in CLAIMS.items()]
)
def test_the_figures_are_as_printed(name: str, open_data: Path) -> None:
    for module in ("jieba", "optuna", "sklearn"):
        pytest.importorskip(module)
    report = reproduce(name, open_data)
    assert report.notes == ()
    assert [figure for figure in report.figures if figure.result != "as printed"] == []


def test_every_claim_reads_figures_of_its_pages() -> None:
    for claim in CLAIMS.values():
        assert claim.printed(), claim.name
        assert all((printed.ROOT / page).is_file() for page in claim.pages), claim.name


def test_the_pages_name_the_command_of_each_claim() -> None:
    for claim in CLAIMS.values():
        command = re.compile(rf"^    duologue reproduce {claim.name} DATA", re.MULTILINE)
        pages = [page for page in claim.pages if command.search(printed.page_text(page))]
        assert pages, f"{claim.name}: none of {claim.pages} has its command"


def test_the_claims_are_listed_and_an_unknown_one_exits_with_the_list(duologue: Command) -> None:
    code, out, _ = duologue("reproduce")
    assert code == 0
    assert all(name in out for name in CLAIMS)
    code, out, err = duologue("reproduce", "nearness")
    assert (code, out) == (2, "")
    assert err.startswith("duologue: 'nearness' is not a claim; there are realism-report, ")
    assert all(name in err for name in CLAIMS)


def test_the_folder_of_the_data_is_asked_for_and_named_where_it_lacks_a_source(duologue: Command) -> None:
    code, _, err = duologue("reproduce", "published-script")
    assert code == 2
    assert "duologue reproduce published-script DATA" in err
    code, _, err = duologue("reproduce", "published-script", ".")
    assert code == 2
    assert "has no simquac/teacher_sim_topics.txt" in err


def test_other_data_have_a_note_and_their_differences(duologue: Command, open_data: Path, tmp_path: Path) -> None:
    text = (open_data / "simquac/teacher_sim_topics.txt").read_bytes().split(b"<Topic:")
    (tmp_path / "teacher_sim_topics.txt").write_bytes(b"<Topic:".join(text[:4]))
    code, out, _ = duologue("reproduce", "published-script", tmp_path, "--json")
    report = json.loads(out)
    assert code == 1
    assert report["notes"] == [
        "simquac/teacher_sim_topics.txt has 3 conversations, and the public subset 13: the figures are of other data."
    ]
    (answers,) = [figure for figure in report["figures"] if figure["figure"].endswith(": answers")]
    assert answers["result"] == f"{answers['here'] - 100:+.4g}"
    assert "0 of 5 figures are as printed" in duologue("reproduce", "published-script", tmp_path)[1]


def test_a_figure_that_is_changed_on_its_page_is_reported(
    duologue: Command, open_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (claim,) = [one for one in CLAIMS.values() if one.name == "published-script"]
    for page in claim.pages:
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / page).write_text(printed.page_text(page), encoding="utf-8")
    changed, words = tmp_path / "docs/research/findings.md", claim.printed()["docs/research/findings.md: words lost"]
    text = changed.read_text("utf-8")
    changed.write_text(text.replace(words, str(int(words) + 5)), encoding="utf-8")
    monkeypatch.setattr(printed, "ROOT", tmp_path)
    code, out, _ = duologue("reproduce", claim.name, open_data)
    assert code == 1
    assert re.search(r"words lost +184 +179\.0000 +-5\n", out)
    assert "4 of 5 figures are as printed." in out


def test_several_seeds_give_a_range(duologue: Command, open_data: Path) -> None:
    code, out, _ = duologue("reproduce", "published-script", open_data, "--over-seeds", 2)
    assert code == 0
    assert "seeds: 0, 1" in out
    assert "range over the seeds 0, 1" in out


def test_a_page_without_the_table_or_with_another_count_of_numbers_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(printed, "ROOT", tmp_path)
    with pytest.raises(DataError, match=r"page\.md: this installation has no pages"):
        printed.table("page.md", "a")
    (tmp_path / "page.md").write_text("| a | b |\n|---|---|\n| **x** | 1 to 2 |\n")
    assert printed.of_table("page.md", ("a", "b"), (("low", "high"),)) == {"x: low": "1", "x: high": "2"}
    with pytest.raises(DataError, match="has the numbers"):
        printed.of_table("page.md", ("a", "b"), ("b",))
    with pytest.raises(DataError, match="has 0 tables"):
        printed.of_table("page.md", ("a", "c"), ("b",))
    with pytest.raises(DataError, match="has 0 sentences"):
        printed.of_sentence("page.md", "none of it")
