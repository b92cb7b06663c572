"""`duologue next-turn`: what it prints, writes and refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("scipy")

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Conversations of twelve people, a line each."""
    places = ["Rome", "Oslo", "Lima", "Bonn", "Cork", "Nice", "Graz", "Bern", "Kyiv", "Riga", "Bari", "Lyon"]
    path = tmp_path / "people.jsonl"
    lines = []
    for number, place in enumerate(places):
        texts = [f"I want to see {place}.", "Is it far?", *["Thanks!"] * (number % 2)]
        messages = [
            turn
            for text in texts
            for turn in ({"role": "user", "content": text}, {"role": "assistant", "content": "Yes."})
        ]
        lines.append(
            {"id": f"p{number}", "user": f"u{number}", "goal": f"See {place}", "task": "trip", "messages": messages}
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_table_has_a_row_for_the_person_the_baselines_and_each_user(duologue: Command, people: Path) -> None:
    code, out, err = duologue("next-turn", people, "--user", "offline", "--seed", 3)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == "The next turn of 12 people, 30 turns"
    for name in ("the person", "another", "repeats", "offline"):  # a narrow terminal folds the names
        assert any(line.startswith(name) for line in lines), name
    assert "By score" in out


def test_scores_have_no_column_that_is_empty_and_no_later_turns_where_all_are(
    duologue: Command, tmp_path: Path
) -> None:
    path = tmp_path / "four.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {"id": f"p{n}", "user": f"u{n}", "messages": [
                    {"role": role, "content": f"{word} {place}"}
                    for word in ("Where is", "And how far is")
                    for role in ("user", "assistant")
                ]}
            ) + "\n"
            for n, place in enumerate(("Rome", "Oslo", "Lima", "Bern"))
        )
    )  # fmt: skip
    code, out, err = duologue("next-turn", path, "--user", "offline")
    assert code == 0, err
    table = out[out.index("By score") :]
    assert table.splitlines()[1].split() == ["row", "score", "users", "mean", "above"]
    assert " later " not in table
    assert "Left out, as no row has them: low, high, above low, above high." in " ".join(table.split())


def test_json_is_the_report_and_rows_without_a_user_need_no_cast(duologue: Command, people: Path) -> None:
    code, out, err = duologue("next-turn", people, "--json")
    assert code == 0, err
    report = json.loads(out)
    assert [row["name"] for row in report["rows"]] == ["the person", "another person", "repeats itself"]
    assert report["rows"][0]["scores"]["chrf"]["value"] == 1.0
    assert (report["conversations"], report["turns"], report["ends"]) == (12, 30, 12)


def test_a_folder_holds_every_turn_and_the_same_command_goes_on_there(
    duologue: Command, people: Path, tmp_path: Path
) -> None:
    command = ("next-turn", people, "--user", "offline", "--out", tmp_path / "out", "--json")
    code, first, err = duologue(*command)
    assert code == 0, err
    assert {path.name.partition("-")[0] for path in (tmp_path / "out").iterdir()} == {
        "offline", "next_turn.json", "turns.jsonl",
    }  # fmt: skip
    turns = [json.loads(line) for line in (tmp_path / "out" / "turns.jsonl").read_text().splitlines()]
    assert len(turns) == 4 * 42
    (file,) = (tmp_path / "out").glob("offline-*/said.jsonl")
    before = file.read_bytes()
    code, again, _ = duologue(*command)
    assert (code, again) == (0, first)
    assert file.read_bytes() == before


def test_a_published_study_and_a_part_of_the_people(duologue: Command, people: Path) -> None:
    code, out, err = duologue("next-turn", people, "--published", people, "--part", "test", "--json")
    assert code == 0, err
    report = json.loads(out)
    assert 0 < report["users"] < 12
    assert [row["kind"] for row in report["rows"]][-1] == "published"


def test_a_user_that_cannot_be_asked_is_exit_code_1_with_the_reason(
    duologue: Command, people: Path, tmp_path: Path
) -> None:
    (tmp_path / "dead_line.py").write_text("def user(messages):\n    raise OSError('the line is dead')\n")
    code, out, _ = duologue("next-turn", people, "--user", "dead_line:user", "--user", "offline", "--json")
    assert code == 1
    rows = {row["name"]: row for row in json.loads(out)["rows"]}
    assert rows["dead_line:user"]["failed"] == 42
    assert "the line is dead" in rows["dead_line:user"]["failure"]
    assert rows["offline"]["failed"] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--user", "nobody"], "nobody"),
        (["--cast", "simquack", "--user", "offline"], "did you mean simquac"),
        (["--published", "nowhere"], "nowhere"),
        (["--part", "half"], "half"),
    ],
)
def test_wrong_input_is_one_line(duologue: Command, people: Path, options: list[str], words: str) -> None:
    code, out, err = duologue("next-turn", people, *options)
    assert (code, out) == (2, "")
    assert words in err.splitlines()[-1]


def test_the_published_people_are_asked_about_in_their_own_language(duologue: Command, open_data: Path) -> None:
    pytest.importorskip("jieba")
    people, published = (
        open_data / "recllmsim/human_exp_V2/User_10",
        open_data / "recllmsim/LLM_agent_user/travel planning",
    )
    code, out, err = duologue(
        "next-turn", people, "--published", published, "--user", "offline", "--sample", 2, "--json"
    )
    assert code == 0, err
    report = json.loads(out)
    assert report["rows"][0]["scores"]["chrf"]["value"] == 1.0
    assert report["rows"][-1]["failed"] == 0


@pytest.mark.heavy
def test_students_of_quac_are_asked_about_their_sections(duologue: Command, open_data: Path) -> None:
    people, published = open_data / "simquac/quac_subset.json", open_data / "simquac/sim_quac.json"
    code, out, err = duologue(
        "next-turn", people, "--published", published, "--user", "offline", "--sample", 3, "--json"
    )
    assert code == 0, err
    rows = {row["name"]: row for row in json.loads(out)["rows"]}
    assert rows["offline"]["failed"] == 0
    assert rows["published"]["turns"] > 0


def test_the_source_itself_is_no_place_for_what_is_written(duologue: Command, open_data: Path) -> None:
    people = open_data / "recllmsim/human_exp_V2/User_10"
    code, out, err = duologue("next-turn", people, "--out", people)
    assert (code, out) == (2, "")
    assert "is the source itself" in err


@pytest.mark.heavy
def test_a_bound_of_tokens_ends_all_users_in_order_and_the_same_command_goes_on(
    duologue: Command, people: Path, tmp_path: Path, faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = faulty(reply="Something near the sea, please.")
    for name, value in endpoint.environment.items():
        monkeypatch.setenv(name, value)
    command = ("next-turn", people, "--user", "openai:m", "--user", "openai:other", "--out", tmp_path / "out", "--json")
    code, out, err = duologue(*command, "--max-run-tokens", 2_000)
    assert code == 1, err
    assert "ended early" in err
    failed = {row["name"]: row["failed"] for row in json.loads(out)["rows"]}
    assert 0 < failed["openai:m"] < 42
    assert failed["openai:other"] == 42
    requests = endpoint.counts()["requests"]
    code, out, err = duologue(*command)
    assert code == 0, err
    assert endpoint.counts()["requests"] == 2 * 42
    assert 0 < requests < 42


def test_a_user_made_of_the_same_people_never_says_what_the_person_said(
    duologue: Command, people: Path, tmp_path: Path
) -> None:
    pytest.importorskip("sklearn")
    lines = [json.loads(line) for line in people.read_text().splitlines()]
    whom = "aunt brother cousin daughter friend uncle neighbour nephew niece sister son twin".split()
    for line, word in zip(lines, whom, strict=True):
        line["messages"][0]["content"] += f" I go there with my {word}."
    people.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, err = duologue("next-turn", people, "--user", f"people:{people}", "--out", "out", "--json")
    assert code == 0, err
    row = json.loads(out)["rows"][-1]
    assert row["scores"]["first"]["value"] < 0.9  # each goes with somebody else
    assert (row["scores"]["ended"]["value"], row["scores"]["stayed"]["value"]) == (None, None)  # it cannot tell


def test_a_folder_below_the_source_is_refused(duologue: Command, people: Path, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    people.rename(tmp_path / "all/people.jsonl")
    code, _, err = duologue("next-turn", "all", "--out", "all/next")
    assert (code, err.strip()) == (2, "duologue: all/next: is in all, all of which is read: choose another place")
    code, _, err = duologue("simulate", "agent_test", "--scenarios", "all", "--out", "all/run")
    assert code == 2
    assert err.splitlines()[1:] == ["duologue: all/run: is in all, all of which is read: choose another place"]


@pytest.mark.parametrize("goal", ["   ", 5, {"a": 1}])
def test_a_goal_without_words_is_none(duologue: Command, people: Path, goal: object) -> None:
    lines = [json.loads(line) | {"goal": goal} for line in people.read_text().splitlines()]
    people.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, err = duologue("next-turn", people, "--user", "offline", "--json")
    assert code == 0, err
    assert json.loads(out)["turns"] == 18  # no first turn: what the person wanted is what the first message says


@pytest.mark.heavy
def test_users_made_from_people_are_a_row_where_there_are_enough_people(duologue: Command, people: Path) -> None:
    pytest.importorskip("sklearn")
    code, out, _ = duologue("next-turn", people, "--json")
    few = json.loads(out)
    assert code == 0
    assert "made from people: no such row, because there are 12 users, and it needs 20." in few["notes"]
    lines = [json.loads(line) for line in people.read_text().splitlines()]
    more = [{**line, "id": f"{line['id']} again", "user": f"{line['user']} again"} for line in lines]
    people.write_text("".join(json.dumps(line) + "\n" for line in (*lines, *more)))
    code, out, err = duologue("next-turn", people, "--json")
    assert code == 0, err
    assert "asking users made from people at 84 places, as a baseline (--no-baseline: none)" in err
    row = next(row for row in json.loads(out)["rows"] if row["name"] == "made from people")
    assert (row["kind"], row["turns"], row["failed"]) == ("baseline", 60, 0)
    assert row["scores"]["chrf"]["value"] > 0.3
    code, out, err = duologue("next-turn", people, "--no-baseline", "--json")
    assert (code, len(json.loads(out)["rows"])) == (0, 3)
    assert "made" not in err


def test_where_no_goal_is_told_no_turn_is_left_out_for_the_baseline(duologue: Command, people: Path) -> None:
    lines = [json.loads(line) for line in people.read_text().splitlines()]
    more = [{**line, "id": f"{line['id']} again", "user": f"{line['user']} again"} for line in lines]
    for line in (*lines, *more):
        del line["goal"]
    people.write_text("".join(json.dumps(line) + "\n" for line in (*lines, *more)))
    code, out, err = duologue("next-turn", people, "--json")
    assert code == 0, err
    report = json.loads(out)
    assert report["turns"] == 60
    assert any("nothing before them states what the user wants" in note for note in report["notes"])
