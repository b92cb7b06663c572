"""Logs of no domain through the commands: `check`, `show`, `compare`."""

import json
from pathlib import Path

import pytest

SYSTEM = {"role": "system", "content": "You answer for a bakery."}
FIRST = {
    "id": "one",
    "messages": [
        SYSTEM,
        {"role": "user", "content": "Is there rye bread?", "labels": {"intent": "ask"}},
        {"role": "assistant", "content": "Yes, from eight on.", "satisfaction": 4, "timestamp": "10:01"},
        {"role": "user", "content": "Is there rye bread?"},
        {"role": "assistant", "content": "I'm sorry, but I can't help with that."},
    ],
    "labels": {
        "scores": {"success": {"value": 0.5}, "polite": True},
        "post_questions": {"user": [{"question": "Were you helped?", "answer": "<b>No</b>"}]},
    },
    "usage": {"prompt_tokens": 90, "completion_tokens": 20},
    "channel": "web",
}
SECOND = {
    "id": "two",
    "messages": [{"role": "user", "content": "有黑麦面包吗？"}, {"role": "assistant", "content": "有。"}],
}


@pytest.fixture
def logs() -> Path:
    path = Path("logs.jsonl")
    path.write_text("".join(json.dumps(value) + "\n" for value in (FIRST, SECOND)), encoding="utf-8")
    return path


def test_a_source_that_is_not_a_path_is_one_line(duologue):
    code, _, err = duologue("check", "simquacc")
    assert (code, "simquacc: cannot be read" in err) == (2, True)
    assert "nothing.jsonl: cannot be read" in duologue("check", "nothing.jsonl")[2]


def test_the_rules_of_no_domain_check_logs(duologue, logs):
    code, out, _ = duologue("check", logs, "--json")
    document = json.loads(out)
    assert [(one["rule"], one["level"], one["message"]) for one in document["findings"]] == [
        ("repeated", "warning", 2),
        ("refusal", "notice", 3),
    ]
    assert code == 0
    assert duologue("check", logs, "--fail-on", "warning")[0] == 1
    assert duologue("check", logs, "--fail-on", "warning", "--skip", "repeated")[0] == 0


def test_the_form_of_a_log_is_named_with_its_sign_and_its_counts(duologue, logs):
    code, out, _ = duologue("check", logs, "--form", "--json")
    (row,) = json.loads(out)
    assert (code, row["form"], row["sign"], row["read"]["conversations"]) == (
        0,
        "messages",
        "a list under `messages`",
        2,
    )
    assert "sign: a list under `messages`" in duologue("check", logs, "--form")[1]


TALKS = {
    "rows": '{"instruction": "Is there rye bread?", "input": "", "output": "Yes.", "shop": "ours"}',
    "dialogues": '{"turns": [{"speaker": "USER", "text": "Is there rye bread?"}, {"speaker": "SYSTEM", "text": "Yes."}]}',
    "tables": "role,content\nuser,Is there rye bread?\nassistant,Yes.",
}


@pytest.mark.parametrize("form", TALKS)
def test_data_of_every_form_is_checked_shown_and_converted(duologue, form):
    Path("data").write_text(TALKS[form] + "\n", encoding="utf-8")
    assert f"data: {form} (" in duologue("check", "--form", "data")[1]
    assert duologue("check", "data")[0] == 0
    assert duologue("show", "data", "--out", "page.html")[0] == 0
    assert "Is there rye bread?" in Path("page.html").read_text(encoding="utf-8")
    code, _, err = duologue("convert", "data", "again.jsonl", "--to", "messages")
    assert (code, "left out" in err) == (0, False)
    assert json.loads(Path("again.jsonl").read_text())["messages"] == [
        {"role": "user", "content": "Is there rye bread?"},
        {"role": "assistant", "content": "Yes."},
    ]


def test_of_a_folder_each_file_is_named_also_the_one_that_is_not_read(duologue):
    Path("both").mkdir()
    Path("both/a.jsonl").write_text('{"messages": [{"role": "user", "content": "Hi"}]}\n', encoding="utf-8")
    Path("both/b.txt").write_text("1/2/26, 10:01 - Kim: Hello\n", encoding="utf-8")
    code, out, _ = duologue("check", "both", "--form", "--json")
    read, refused = json.loads(out)
    assert (code, read["read"], "refused" in refused) == (
        1,
        {"conversations": 1, "messages of the user": 1, "messages of the assistant": 0, "calls of tools": 0},
        True,
    )
    out = duologue("check", "both", "--form")[1]
    assert "read: 1 conversation, 1 message of the user, 0 messages of the assistant, 0 calls of tools" in out


def test_where_no_form_fits_every_sign_that_was_looked_for_is_a_line(duologue):
    Path("odd.json").write_text('{"embedding": [0.1]}', encoding="utf-8")
    code, out, err = duologue("check", "odd.json", "--form")
    assert (code, out) == (2, "")
    assert "langsmith: `run_type`, and `inputs` or `outputs`" in err
    assert "odd.json: is not in a known format" in err


def test_the_page_has_the_first_message_as_title_and_labels_scores_and_answers(duologue, logs):
    assert duologue("show", logs, "--id", "one", "--out", "one.html")[0] == 0
    page = Path("one.html").read_text(encoding="utf-8")
    assert "<title>Is there rye bread?" in page
    page = page.replace("<wbr>", "")
    for name, value in (
        ("post_questions.user.1.question", "Were you helped?"),
        ("post_questions.user.1.answer", "&lt;b&gt;No&lt;/b&gt;"),
        ("intent", "ask"),
        ("satisfaction", "4"),
        ("timestamp", "10:01"),
        ("usage prompt tokens", "90"),
        ("channel", "web"),
    ):
        assert f'<th scope="row" dir="auto">{name}</th><td dir="auto">{value}</td>' in page
    assert '<b dir="auto">success</b>: <span dir="auto">0.5' in page
    assert "You answer for a bakery." in page
    duologue("show", logs, "--out", "all.html")
    assert "Is there rye bread?" in Path("all.html").read_text(encoding="utf-8")


def talks(name: str, count: int, *openings: str) -> Path:
    """A log of own conversations, each of two turns, in which the users' words vary."""
    path = Path(name)
    breads = ("rye bread", "a cake", "rolls for ten", "a tart", "white bread", "pretzels", "a baguette")
    lines = []
    for number in range(count):
        opening = openings[number % len(openings)].format(breads[number % len(breads)])
        texts = [opening, "Yes, we have it.", ("and on sunday", "Fine. And the price?")[number % 2], "It is two euros."]
        turns = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
        lines.append(json.dumps({"id": f"{name} {number}", "messages": turns}) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.heavy
def test_two_logs_of_unequal_number_are_compared_and_what_they_lack_is_told(duologue):
    sim = talks(
        "sim.jsonl", 52, "Hello! Could you please tell me about {}?", "Good morning! I would like {}. Thank you!"
    )
    people = talks("people.jsonl", 40, "do you have {}", "need {} asap", "how much is {}")
    code, out, err = duologue("compare", sim, people, "--out", "report")
    assert code == 0
    assert Path("report/report.html").is_file()
    assert "has only" not in err
    report = json.loads(Path("report/report.json").read_text(encoding="utf-8"))
    text = json.dumps(report)
    assert "exclamation" in text
    assert "do not name their user" in " ".join(out.split())


def test_what_the_page_about_logs_shows_is_what_the_commands_print(duologue):
    root = Path(__file__).parents[2]
    page = (root / "docs/start/logs.md").read_text(encoding="utf-8")
    sample = root / "examples/logs/bakery.jsonl"
    findings = [line for line in duologue("check", sample)[1].splitlines() if ": " in line]
    assert len(findings) == 6
    assert [line for line in findings if f"    {line}\n" not in page] == []


def test_no_line_of_a_table_ends_in_blanks(duologue, logs):
    assert [line for line in duologue("check", logs)[1].splitlines() if line != line.rstrip()] == []


def test_a_check_without_findings_says_so_in_words(duologue, tmp_path):
    talk = [
        {"role": "user", "content": "Which tea is mild?"},
        {"role": "assistant", "content": "Camomile tea is mild."},
    ]
    (tmp_path / "l.jsonl").write_text(json.dumps({"messages": talk}) + "\n")
    code, out, _ = duologue("check", tmp_path / "l.jsonl")
    assert (code, out.splitlines()[0]) == (0, "no finding in 1 conversation, by 11 rules:")
    (tmp_path / "l.jsonl").write_text(json.dumps({"messages": [*talk, talk[0]]}) + "\n")
    assert "no finding" not in duologue("check", tmp_path / "l.jsonl")[1]


def test_instructions_that_are_kept_apart_are_counted(duologue, tmp_path):
    system = {"role": "system", "content": "Be brief."}
    talk = [system, {"role": "user", "content": "Rain?"}]
    (tmp_path / "l.jsonl").write_text(json.dumps({"messages": talk}) + "\n")
    assert "1 system message is kept apart" in duologue("check", tmp_path / "l.jsonl")[2]


def test_every_command_takes_the_option_and_none_keeps_it(duologue):
    folder = Path("logs")
    folder.mkdir()
    path = folder / "log.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "Is there tea?"}]}\n{\n', encoding="utf-8")
    for words in (("check", path), ("check", folder), ("convert", path, "out.jsonl", "--to", "messages", "--force")):
        code, _, notes = duologue("--skip-broken", *words)
        assert (code, "left out: 1 broken line (line 2)" in notes) == (0, True)
        code, _, refusal = duologue(*words)
        assert (code, "--skip-broken" in refusal) == (2, True)
    assert "duologue --skip-broken check ..." in duologue("check", path, "--skip-broken")[2]
