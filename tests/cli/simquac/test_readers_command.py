"""`duologue simquac readers`: what it prints, writes, asks and refuses."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from duologue.data import Conversation, Message, simquac
from duologue.data.grounding import NO_ANSWER, ground

Command = Callable[..., tuple[int, str, str]]

SECTION = "Three keepers lived there. The last keeper left in 1968. A ship, the Mary Ann, sank in 1970."


def data_set(path: Path, topics: int = 2) -> Path:
    paragraphs = []
    for number in range(topics):
        section = f"Light {number} was old. {SECTION}"
        pairs = [
            ("When did the last keeper leave?", "in 1968"),
            ("Why?", NO_ANSWER),
            ("Which ship sank?", "the Mary Ann"),
        ]
        messages = [
            message
            for question, answer in pairs
            for message in (
                Message(role="user", text=question),
                Message(role="assistant", text=answer, spans=ground(answer, section).spans),
            )
        ]
        topic = simquac.Topic(title=f"Light {number}", header="Keepers", section=section)
        paragraphs.append(Conversation(id=str(number), scenario=topic.scenario(), messages=tuple(messages)))
    assert simquac.write(paragraphs, path) == []
    return path


@pytest.fixture
def quac(tmp_path: Path) -> Path:
    return data_set(tmp_path / "quac.json")


def rows(out: str) -> dict[str, dict]:
    return {row["reader"]: row for row in json.loads(out)["rows"]}


def test_without_a_reader_the_nearest_sentence_stands_beside_no_answer(duologue: Command, quac: Path) -> None:
    code, out, err = duologue("simquac", "readers", quac, "--json")
    assert code == 0, err
    scores = rows(out)
    assert list(scores) == ["no answer", "nearest sentence"]
    assert (scores["no answer"]["f1"], scores["no answer"]["unanswerable"]) == (pytest.approx(1 / 3), 2)
    assert scores["nearest sentence"]["answered_wrong"] == 2


def test_the_tables_have_the_forms_of_other_tables(duologue: Command, quac: Path, tmp_path: Path) -> None:
    code, out, _ = duologue("simquac", "readers", quac)
    assert code == 0
    assert "quac.json: 6 questions, 2 without an answer" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert re.search(r"^nearest sentence +0\.\d{3} +0\.\d{3}", out, re.MULTILINE)
    code, out, _ = duologue("simquac", "readers", quac, "--format", "md", "--out", tmp_path / "t.md")
    assert (code, out) == (0, "")
    assert "| quac.json | nearest sentence |" in (tmp_path / "t.md").read_text()
    code, _, err = duologue("simquac", "readers", quac, "--format", "md", "--out", tmp_path / "t.md")
    assert code == 2
    assert "t.md" in err


def test_unanswerable_questions_are_restricted_or_not(duologue: Command, quac: Path) -> None:
    for value, count in (("0", 4), ("1", 6), ("all", 6)):
        _, out, _ = duologue("simquac", "readers", quac, "--unanswerable", value, "--json")
        assert rows(out)["no answer"]["questions"] == count
    code, _, err = duologue("simquac", "readers", quac, "--unanswerable", "some")
    assert code == 2
    assert "--unanswerable some: write a number from 0, or all" in err


def test_of_a_large_file_conversations_about_drawn_sections_are_taken(duologue: Command, tmp_path: Path) -> None:
    files = [data_set(tmp_path / f"{name}.json", topics) for name, topics in (("a", 9), ("b", 8), ("c", 3))]

    def drawn(*options: object) -> tuple[dict[str, set[str]], list[str]]:
        code, out, err = duologue("simquac", "readers", *files, "--journal", tmp_path / "j", "--json", *options)
        assert code == 0, err
        answers = [json.loads(line) for line in (tmp_path / "j/answers.jsonl").read_text().splitlines()]
        return {
            file.name: {one["id"].partition("/")[0] for one in answers if one["data"] == file.name} for file in files
        }, json.loads(out)["notes"]

    ids, notes = drawn("--draw", 3)
    assert [len(ids[file.name]) for file in files] == [3, 3, 3]
    assert len(ids["a.json"] & ids["b.json"]) >= 2, "the same sections of every file"
    assert notes[2:] == [
        f"{name}.json: 3 of {count} conversations are taken, those about 3 of {count} sections, drawn with seed 0: "
        "at most 3 of a source are."
        for name, count in (("a", 9), ("b", 8))
    ]
    assert drawn("--draw", 3, "--seed", 1)[0] != ids
    assert len(drawn()[0]["a.json"]) == 9


class Endpoint:
    """Answers questions about 1968 and a ship, and keeps what it was sent."""

    def __init__(self, server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url_for("/v1"))
        self.sent: list[list[dict]] = []
        self.replies = {"leave": "In 1968", "Why": NO_ANSWER.rstrip("."), "ship": "It was the Mary Ann"}
        server.expect_request("/v1/chat/completions").respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        messages = request.get_json()["messages"]
        self.sent.append(messages)
        prompt = "\n".join(str(message["content"]) for message in messages if message["role"] == "user")
        reply = self.replies[max(self.replies, key=prompt.rfind)]
        choice = {"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
        return Response(json.dumps(body), content_type="application/json")


@pytest.fixture
def endpoint(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    return Endpoint(httpserver, monkeypatch)


def test_a_chat_model_answers_in_its_own_words_and_the_same_command_goes_on(
    duologue: Command, quac: Path, tmp_path: Path, endpoint: Endpoint
) -> None:
    command = (
        "simquac",
        "readers",
        quac,
        "--model",
        "openai:m",
        "--journal",
        tmp_path / "kept",
        "--concurrency",
        1,
        "--json",
    )
    code, out, err = duologue(*command)
    assert code == 0, err
    row = rows(out)["openai:m"]
    assert (row["questions"], row["refused_right"], row["failed"]) == (6, 2, 0)
    assert row["exact"] == pytest.approx(4 / 6)  # `It was the Mary Ann` is not the words alone
    assert 0.8 < row["f1"] < 1
    assert len(endpoint.sent) == 6
    lines = [json.loads(line) for line in (tmp_path / "kept" / "answers.jsonl").read_text().splitlines()]
    assert len(lines) == 3 * 6 - 6
    assert {line["answer"] for line in lines if line["reader"] == "openai:m"} == {
        "In 1968", NO_ANSWER, "It was the Mary Ann",
    }  # fmt: skip
    assert duologue(*command)[1] == out
    assert len(endpoint.sent) == 6  # nothing is asked twice


def test_a_chat_model_sees_the_section_and_the_earlier_exchanges_it_may_see(
    duologue: Command, quac: Path, endpoint: Endpoint
) -> None:
    assert duologue("simquac", "readers", quac, "--model", "openai:m", "--limit", 1, "--concurrency", 1)[0] == 0
    assert all("<section>" in str(messages) for messages in endpoint.sent)
    assert all(len(messages) == 2 for messages in endpoint.sent)
    endpoint.sent.clear()
    duologue("simquac", "readers", quac, "--model", "openai:m", "--limit", 1, "--history", 2, "--concurrency", 1)
    assert sorted(len(messages) for messages in endpoint.sent) == [2, 4, 6]
    longest = max(endpoint.sent, key=len)
    assert [messages["content"] for messages in longest if messages["role"] == "assistant"] == ["in 1968", NO_ANSWER]


def test_a_teacher_is_asked_again_where_its_answer_is_no_piece_of_the_section(
    duologue: Command, quac: Path, endpoint: Endpoint
) -> None:
    code, out, err = duologue("simquac", "readers", quac, "--model", "teacher:openai:m", "--attempts", 2, "--json")
    assert code == 0, err
    row = rows(out)["teacher:openai:m"]
    assert len(endpoint.sent) == 8  # `It was the Mary Ann` twice in either conversation
    assert row["exact"] == pytest.approx(4 / 6)
    assert (row["refused_wrong"], row["refused_right"]) == (2, 2)


def test_an_offline_teacher_and_the_first_sentence_need_no_model(duologue: Command, quac: Path) -> None:
    code, out, err = duologue("simquac", "readers", quac, "--model", "teacher:offline", "--model", "first", "--json")
    assert code == 0, err
    assert {rows(out)[name]["questions"] for name in ("teacher:offline", "first sentence")} == {6}


def test_questions_that_could_not_be_asked_are_told_and_are_exit_code_1(
    duologue: Command, quac: Path, endpoint: Endpoint
) -> None:
    endpoint.replies["ship"] = ""
    code, out, _ = duologue("simquac", "readers", quac, "--model", "openai:m", "--attempts", 1, "--json")
    assert code == 1
    row = rows(out)["openai:m"]
    assert (row["questions"], row["failed"]) == (4, 2)
    assert "assistant" in row["reason"]


@pytest.mark.heavy
def test_a_changed_setting_begins_a_folder_of_its_own_and_only_what_is_left_is_planned(
    duologue: Command, tmp_path: Path, endpoint: Endpoint
) -> None:
    quac, folder = data_set(tmp_path / "quac.json", 20), tmp_path / "kept"
    command = ("simquac", "readers", quac, "--model", "openai:m", "--journal", folder)
    code, _, err = duologue(*command, "--max-run-tokens", 350)
    assert code == 1
    assert "60 questions planned" in err
    requests = len(endpoint.sent)
    assert 0 < requests < 60
    code, _, err = duologue(*command, "--model", "retriever")
    assert (code, len(endpoint.sent)) == (0, 60)
    assert "60 questions planned" not in err
    assert duologue(*command, "--history", 2)[0] == 0
    assert len(endpoint.sent) == 120
    assert len([place for place in folder.iterdir() if place.is_dir()]) == 2


def test_a_folder_with_other_files_is_no_place_for_answers(duologue: Command, quac: Path, tmp_path: Path) -> None:
    code, _, err = duologue("simquac", "readers", quac, "--journal", tmp_path)
    assert code == 2
    assert "holds other files: give --journal a folder of its own" in err
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "answers.jsonl").write_text('{"answer": 3}\n')
    code, _, err = duologue("simquac", "readers", quac, "--journal", tmp_path / "other")
    assert (code, "is not a list of answers of this command" in err) == (2, True)
    code, _, err = duologue("simquac", "readers", quac, "--journal", quac)
    assert code == 2
    for _ in range(2):  # its own list is replaced
        assert duologue("simquac", "readers", quac, "--journal", tmp_path / "mine")[0] == 0


def test_a_place_for_tables_is_refused_before_anything_is_asked(
    duologue: Command, quac: Path, tmp_path: Path, endpoint: Endpoint
) -> None:
    code, _, err = duologue("simquac", "readers", quac, "--model", "openai:m", "--out", tmp_path / "t.txt")
    assert (code, endpoint.sent) == (2, [])
    assert "--out needs --format csv, md, latex or json" in err


def test_what_is_no_question_about_a_section_is_told(duologue: Command, quac: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text(quac.read_text().replace("in 1968", "CANNOTANSWER").replace("the Mary Ann", "CANNOTANSWER"))
    value = json.loads(quac.read_text())
    value["data"][0]["paragraphs"][1]["context"] = " CANNOTANSWER"
    empty.write_text(json.dumps(value))
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "a.json").write_text(empty.read_text())
    (mixed / "b.jsonl").write_text(json.dumps({"messages": [{"role": "user", "content": "hi"}]}) + "\n")
    code, out, err = duologue("simquac", "readers", mixed, "--json", "--history", 1)
    assert code == 0, err
    notes = json.loads(out)["notes"]
    assert "the section and 1 earlier turn." in notes[0]
    assert "mixed: 1 conversation is about no section, and left out." in notes
    assert "mixed: 3 questions have an empty section: no reader can answer there." in notes
    code, _, err = duologue("simquac", "readers", quac, mixed / "b.jsonl")
    assert code == 2
    assert "b.jsonl: there is no question about a section" in err


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("retreiver", "--model retreiver: is not a model that reads: give retriever, first, teacher:MODEL"),
        ("replay:x.jsonl", "replays a file and reads nothing"),
        ("teacher:people:x.json", "replays a file and reads nothing"),
        ("nonsense:x", "nonsense"),
        ("teacher:nonsense:x", "nonsense"),
        ("grammar:offline", "hold"),
    ],
)
def test_a_reader_that_is_none_is_named(duologue: Command, quac: Path, spec: str, message: str) -> None:
    code, _, err = duologue("simquac", "readers", quac, "--model", spec)
    assert code == 2
    assert message in err


def test_a_file_without_sections_is_refused(duologue: Command, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "hi"}]}) + "\n")
    code, _, err = duologue("simquac", "readers", path)
    assert code == 2
    assert "no question about a section" in err
