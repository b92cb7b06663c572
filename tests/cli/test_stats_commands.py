"""`simquac stats` and `simquac teacher`: what they print, write and refuse."""

import csv
import json
import sys

import pytest


@pytest.fixture
def files(open_data):
    return open_data / "simquac/quac_subset.json", open_data / "simquac/sim_quac.json"


@pytest.mark.heavy
def test_json_is_an_object_for_each_file_in_order_and_a_last_one_of_comparisons(duologue, files):
    code, out, err = duologue("simquac", "stats", *files, "--json")
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert [one["source"] for one in document[:2]] == ["quac_subset.json", "sim_quac.json"]
    first = ("conversations", "questions", "answered", "words_per_answer", "spans_per_answer", "coverage_mean")
    assert set(first) | {"coverage_sd", "flow_n", "flow_mean", "flow_sd"} <= set(document[0])
    assert list(document[2]) == ["comparisons", "equal_questions"]
    coverage = document[2]["comparisons"][0]
    assert {"measure", "a", "b", "statistic", "p", "n_a", "n_b", "difference"} <= set(coverage)
    assert coverage["difference"] == document[0]["coverage_mean"] - document[1]["coverage_mean"]
    (equal,) = document[2]["equal_questions"]
    assert {"a", "b", "pairs", "k", "all_questions", "first_k", "gap_left", "by_question", "notes"} <= set(equal)
    assert len(json.loads(duologue("simquac", "stats", files[0], "--json")[1])) == 1


@pytest.mark.heavy
def test_a_file_may_be_given_twice_and_two_files_may_have_one_name(duologue, files, tmp_path):
    copy = tmp_path / "quac_subset.json"
    copy.write_bytes(files[0].read_bytes())
    document = json.loads(duologue("simquac", "stats", files[1], files[1], "--json")[1])
    assert [one["source"] for one in document[:2]] == ["sim_quac.json", "sim_quac.json (2)"]
    document = json.loads(duologue("simquac", "stats", files[0], "quac_subset.json", "--json")[1])
    assert [one["source"] for one in document[:2]] == [str(files[0]), "quac_subset.json (2)".removesuffix(" (2)")]


@pytest.mark.heavy
def test_tables_are_printed_and_exported_in_each_form(duologue, files, tmp_path):
    assert "| coverage mean |" in duologue("simquac", "stats", files[0], "--format", "md")[1]
    code, out, err = duologue("simquac", "stats", files[0], "--format", "latex", "--out", "t.tex")
    assert (code, out) == (0, "")
    assert "written: t.tex" in err
    assert (tmp_path / "t.tex").read_text().count(r"\begin{tabular}") == 2
    duologue("simquac", "stats", *files, "--format", "csv", "--out", "tables")
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == [
        "answers_coverage_and_flow.csv",
        "comparisons.csv",
        "coverage_at_equal_number_of_questions.csv",
        "paired_tests_of_coverage.csv",
        "questions.csv",
    ]
    with (tmp_path / "tables/answers_coverage_and_flow.csv").open() as file:
        rows = {row[0]: row[1:] for row in csv.reader(file)}
    assert rows["answered"] == ["446", "565"]
    duologue("simquac", "stats", *files, "--json", "--out", "t.json")
    assert len(json.loads((tmp_path / "t.json").read_text())) == 3


def test_the_tables_of_equal_questions_are_whole_in_80_columns(duologue, files):
    out = duologue("simquac", "stats", *files)[1]
    assert "coverage mean" in out
    assert "questions  pairs  asked a  asked b  mean a  mean b  difference  gap left\n" in out
    assert "questions  difference     low    high       t       p         W  p of W\n" in out


def test_several_csv_tables_on_stdout_have_their_titles_and_their_notes_go_to_stderr(duologue, files):
    _, out, err = duologue("simquac", "stats", files[0], "--format", "csv")
    assert out.startswith("# Answers, coverage and flow\nmeasure,quac_subset.json\n")
    assert "\n\n# Questions\n" in out
    assert "Kendall" in err


@pytest.mark.heavy
def test_figures_are_drawn_beside_the_numbers(duologue, files, tmp_path):
    code, out, _ = duologue("simquac", "stats", files[0], "--json", "--figures", "f")
    assert code == 0
    json.loads(out)
    names = {path.name for path in (tmp_path / "f").iterdir()}
    assert names == {f"{name}.{end}" for name in ("coverage", "flow", "question_types") for end in ("svg", "png")}
    duologue("simquac", "stats", *files, "--json", "--figures", "two")
    drawn = (tmp_path / "two/coverage_by_question.svg").read_text()
    assert "Coverage after each question" in drawn
    assert "sim_quac.json" in drawn


def test_the_published_teacher_is_measured_by_one_command(duologue, open_data):
    code, out, _ = duologue("simquac", "teacher", open_data / "simquac/teacher_sim_topics.txt", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["agreement"]["overlap"] == {"single": 26, "several": 6, "none": 0}
    assert "Validity" not in duologue("simquac", "teacher", open_data / "simquac/teacher_sim_topics.txt")[1]


def test_a_run_of_a_teacher_on_peoples_questions_is_measured_with_its_validity(duologue, open_data, tmp_path):
    value = json.loads((open_data / "simquac/quac_subset.json").read_text())
    value["data"][0]["paragraphs"] = value["data"][0]["paragraphs"][:3]
    (tmp_path / "few.json").write_text(json.dumps(value))
    few = ("--topics", "few.json", "--user", "replay:few.json", "--assistant", "offline?misbehave=0.5")
    duologue("simulate", "simquac", *few, "--out", "run")
    code, out, err = duologue("simquac", "teacher", "run", "--people", "few.json", "--json", "--figures", "f")
    document = json.loads(out)
    assert code == 0, err
    assert document["questions"] == sum(len(p["qas"]) for p in value["data"][0]["paragraphs"])
    rows = [row for row in document["attempts"] if row["role"] == "assistant"]
    assert rows[0]["model"] == "offline?misbehave=0.5"
    assert rows[0]["turns"] == document["questions"]
    assert rows[0]["rejected"] == rows[1]["turns"] > 0
    assert (tmp_path / "f/validity.svg").is_file()
    assert "Validity by attempt: run" in duologue("simquac", "stats", "run")[1]


def test_labels_that_stats_cannot_use_are_told_with_the_command_that_does(duologue, tmp_path):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes", "satisfaction": 4}]
    (tmp_path / "mine.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    code, _, err = duologue("papers", "recllmsim", "stats", "mine.jsonl")
    assert code == 2
    assert err.endswith("give those. Labels of other conversations are used by duologue compare\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("simquac", "stats", "nowhere.json"), "nowhere.json: cannot be read"),
        (("simquac", "stats", "empty.json"), "empty.json: is empty"),
        (("simquac", "stats", "one.jsonl", "--out", "x"), "--out needs --format"),
        (("simquac", "stats", "one.jsonl", "--format", "csv", "--out", "empty.json"), "3 tables as CSV need a folder"),
        (("simquac", "stats", "one.jsonl", "--figures", "empty.json"), "empty.json: cannot be written"),
        (
            ("simquac", "stats", "none.json"),
            "none.json: is SimQuAC or QuAC JSON without any conversation: simquac stats needs",
        ),
        (
            ("simquac", "stats", "none.json", "chat.jsonl"),
            "none.json: is SimQuAC or QuAC JSON without any conversation",
        ),
        (
            ("simquac", "stats", "chat.jsonl"),
            "chat.jsonl: is JSON lines of messages with 1 conversation, none about a section",
        ),
        (
            ("simquac", "teacher", "chat.jsonl"),
            "none about a section: simquac teacher needs SimQuAC or QuAC JSON, teacher topics",
        ),
        (
            ("simquac", "teacher", "chat.jsonl", "--people", "one.jsonl"),
            "none about a section: simquac teacher needs",
        ),
        (
            ("papers", "recllmsim", "stats", "chat.jsonl"),
            "none about a task with a profile: the tables need RecLLMSim files",
        ),
        (
            ("papers", "recllmsim", "stats", "one.jsonl"),
            "one.jsonl: is JSON lines of records with 1 conversation, none about a task",
        ),
        (("simquac", "baseline", "chat.jsonl"), "not a SimQuAC or QuAC file"),
        (("simquac", "baseline", "one.jsonl"), "not a SimQuAC or QuAC file"),
        (("simquac", "teacher", "one.jsonl"), "holds no answers of people: give the file whose questions were asked"),
        (("simquac", "teacher", "one.jsonl", "--people", "none.json"), "of which the reference has none"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(duologue, tmp_path, arguments, message):
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "none.json").write_text('{"data": [{"paragraphs": []}]}')
    (tmp_path / "chat.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    duologue("simulate", "simquac", "--limit", 1, "--max-turns", 1, "--out", "r")
    (tmp_path / "r/conversations.jsonl").rename(tmp_path / "one.jsonl")
    code, out, err = duologue(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_a_folder_of_task_oriented_talk_is_no_source_of_teacher_statistics(duologue, open_data):
    code, out, err = duologue("simquac", "stats", open_data / "recllmsim/real_human_user", "--json")
    assert (code, out) == (2, "")
    assert "real_human_user: is RecLLMSim JSON with 35 conversations, none about a section" in err


def test_of_several_files_those_without_sections_are_noted_and_left_out(duologue, files, tmp_path):
    (tmp_path / "chat.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    code, out, err = duologue("simquac", "stats", "chat.jsonl", files[0], "--json")
    assert code == 0
    assert [source["source"] for source in json.loads(out)] == ["quac_subset.json"]
    assert "left out: chat.jsonl: is JSON lines of messages" in err


def test_of_a_mixed_folder_the_others_are_noted_in_the_tables(duologue, open_data, tmp_path):
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed/chat.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    topics = open_data / "simquac/teacher_sim_topics.txt"
    (tmp_path / "mixed/topics.txt").write_bytes(topics.read_bytes())
    for command in ("stats", "teacher"):
        code, out, _ = duologue("simquac", command, "mixed")
        assert code == 0
        assert "1 conversations are about no section and left out." in " ".join(out.split())


def test_the_published_rule_of_table_three_is_chosen_by_name(duologue, open_data):
    topics = open_data / "simquac/teacher_sim_topics.txt"
    document = json.loads(duologue("simquac", "teacher", topics, "--overlap", "published", "--json")[1])
    assert document["rule"] == "published"
    printed = " ".join(duologue("simquac", "teacher", topics, "--overlap", "published")[1].split())
    assert "Published rule: each line of the teacher's answer" in printed
    assert "Overlap (our rule)" in " ".join(duologue("simquac", "teacher", topics)[1].split())
    assert duologue("simquac", "teacher", topics, "--overlap", "mine")[0] == 2


def test_without_scipy_the_extra_is_named_in_one_line(duologue, files, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    code, out, err = duologue("simquac", "stats", files[0])
    assert (code, out) == (2, "")
    assert err == 'duologue: scipy is not installed: pip install "duologue[stats]"\n'


@pytest.mark.heavy
def test_recllmsim_json_has_a_key_for_each_table_and_their_notes(duologue, open_data):
    code, out, err = duologue("papers", "recllmsim", "stats", open_data / "recllmsim", "--json")
    document = json.loads(out)
    assert code == 0
    assert "233 simulated" in err
    assert set(document["notes"]) == set(document) - {"notes"}
    first = document["quality_by_turns"][0]
    assert first == {"turns": 1, "n": 1, "of": 1, "preference_alignment": 1.0, "role_playing_completeness": 1.0}


@pytest.mark.heavy
def test_recllmsim_tables_are_exported(duologue, open_data, tmp_path):
    real = open_data / "recllmsim/real_human_user"
    code, out, _ = duologue("papers", "recllmsim", "stats", real, "--format", "csv")
    assert code == 0
    assert "task,side,per,n,of,made up,cannot tell,share\nall,people,turn,155,155," in out
    duologue("papers", "recllmsim", "stats", real, "--format", "csv", "--out", "tables")
    assert len(list((tmp_path / "tables").iterdir())) == 13


def test_recllmsim_reads_a_file_and_a_file_of_records_and_names_broken_files(duologue, open_data, tmp_path):
    file = next((open_data / "recllmsim/LLM_agent_user/travel planning").glob("*.json"))
    document = json.loads(duologue("papers", "recllmsim", "stats", file, "--json")[1])
    assert [row["conversations"] for row in document["counts"]] == [1, 1]
    duologue("convert", file, "records.jsonl", "--to", "replay")
    assert (
        json.loads(duologue("papers", "recllmsim", "stats", "records.jsonl", "--json")[1])["labels"]
        == document["labels"]
    )
    (tmp_path / "some").mkdir()
    (tmp_path / "some/0.json").write_bytes(file.read_bytes())
    (tmp_path / "some/1.json").write_text('{"history": 3}')
    code, _, err = duologue("papers", "recllmsim", "stats", "some", "--json")
    assert code == 1
    assert "some/1.json: 'history' is not a list" in err


def test_recllmsim_notes_what_of_a_mix_is_left_out(duologue, open_data, tmp_path):
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed/chat.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
    file = next((open_data / "recllmsim/LLM_agent_user/travel planning").glob("*.json"))
    duologue("convert", file, "mixed/records.jsonl", "--to", "replay")
    code, out, _ = duologue("papers", "recllmsim", "stats", "mixed", "--json")
    assert code == 0
    assert "1 conversations are about no task with a profile: left out." in json.loads(out)["notes"]["counts"]
    (tmp_path / "nothing").mkdir()
    assert duologue("papers", "recllmsim", "stats", "nothing")[0] == 2
