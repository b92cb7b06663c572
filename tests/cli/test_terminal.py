"""What a terminal obeys never reaches it raw: from conversations, files, their names, endpoints, errors and logs."""

import io
import json
import logging
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from duologue import data
from duologue.cli.printing import Terminal, put, say, shown, stdout
from duologue.data import Attempt, Conversation, Message
from duologue.data.text.terminal import on_one_line, plain, plain_json, plain_logs

HOSTILE = {
    "colour": "\x1b[31m",
    "title of the window": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\",
    "erased line": "\x1b[2K",
    "return": "all is well\rnothing is",
    "backspace": "yes\x08\x08\x08no ",
    "bell": "\x07",
    "delete": "\x7f",
    "8-bit CSI": "\x9b31m",
    "8-bit OSC": "\x9d0;owned\x9c",
    "right to left": "\u202egnp.exe",
    "isolate": "\u2066a\u2069",
    "line separator": "a\u2028b",
    "vertical tab": "\x0b\x0c",
    "invisible": "\U000e0041",
}
ALL = "".join(HOSTILE.values()) + "[red]x[/red] [/] [link=http://evil.example]y"


def raw(text: str) -> set[str]:
    """Names of what a terminal would obey in the text."""
    whole = {name for name, value in HOSTILE.items() if value in text}
    return whole | {
        repr(character)
        for character in text
        if (ord(character) < 32 and character not in "\n\t")
        or 0x7F <= ord(character) < 0xA0
        or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\u200e\u200f\u061c"
    }


def test_a_word_between_colons_is_no_picture(capsys):
    say("openai:m: says nothing, :smile:")
    table = Table("model")
    table.add_row("openai:m:")
    stdout.print(table)
    output = capsys.readouterr()
    assert output.err == "openai:m: says nothing, :smile:\n"
    assert "openai:m:" in output.out


@pytest.mark.parametrize("name", HOSTILE)
def test_each_is_written_out_and_a_value_of_json_stays_the_same(name):
    text = f"before {HOSTILE[name]} after"
    assert raw(text)
    assert not raw(plain(text))
    assert "\\" in plain(text)
    whole = plain_json(json.dumps({text: [text]}, ensure_ascii=False))
    assert not raw(whole)
    assert json.loads(whole) == {text: [text]}


def test_ordinary_text_stays_as_it_is():
    text = "Zwölf Köche, 十二位厨师, שתים עשרה,\n\tمرحبا 👩‍🍳 [red] \\x1b"
    assert plain(text) == plain_json(text) == text
    assert on_one_line(" a\n\tb\x1b ") == "a b\\x1b"


@pytest.mark.parametrize("coloured", [True, False])
def test_consoles_write_it_out_and_columns_keep_their_width(coloured):
    file = io.StringIO()
    console = Terminal(file=file, force_terminal=coloured, width=400, highlight=False)
    table = Table(ALL.replace("[", "("), title=escape(ALL))
    table.add_row(escape(ALL))
    table.add_row(Text(ALL, style="red"))
    for renderable in (table, Text(ALL), escape(ALL)):
        console.print(renderable)
    shown = file.getvalue()
    for sequence in ("\x1b[31m", "\x1b[1m", "\x1b[3m", "\x1b[0m", "\x1b[1;31m", "\x1b[3;0m"):
        shown = shown.replace(sequence, "") if coloured else shown
    assert not raw(shown)
    assert "\\x1b[31m" in shown
    assert "[red]x[/red]" in shown


def test_lines_logs_and_warnings_are_plain_too(capsys):
    with plain_logs(shown):
        put(ALL)
        say(ALL)
        logger = logging.getLogger("own.package")
        logger.propagate = False
        assert logging.lastResort is not None
        logging.lastResort.handle(logging.makeLogRecord({"msg": ALL, "levelno": logging.WARNING}))
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning(UserWarning(ALL), UserWarning, "f.py", 1)
    output = capsys.readouterr()
    assert not raw(output.out + output.err)
    assert output.err.count("[red]x[/red]") == 3


TOPIC = {
    "title": f"T{ALL}",
    "background": f"B {ALL}",
    "header": f"H{ALL}",
    "section": f"Three keepers {ALL} lived here. It burnt in 1877.",
}
TASKS = {f"moving {ALL}": {"prompt": f"You move {ALL} to [PLACE].", "options": {"PLACE": [f"a village {ALL}", "b"]}}}


def conversation(number: int) -> Conversation:
    rejected = Attempt(text=f"no {ALL}", verdict="rejected", reason=f"because {ALL}")
    return Conversation(
        id=f"{number}{ALL}",
        scenario={"kind": "simquac", **TOPIC},
        messages=(
            Message(role="user", text=f"What? Who? {ALL}", attempts=(rejected,)),
            Message(role="assistant", text=f"CANNOTANSWER {ALL}"),
            Message(role="user", text=f"What? Who? {ALL}"),
            Message(role="assistant", text=f"It burnt {ALL}"),
        ),
        stop="max_turns",
    )


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    """A name of a file whose name and content are hostile."""
    name = "n" + "".join(HOSTILE.values()).replace("/", "").replace("\x1b\\", "") + "[red].jsonl"
    data.record_lines.write([conversation(1), conversation(2)], tmp_path / name)
    (tmp_path / "topics.jsonl").write_text(json.dumps(TOPIC) + "\n")
    (tmp_path / "tasks.yaml").write_text(json.dumps(TASKS))
    (tmp_path / "broken.jsonl").write_text(f'{{"messages": "{ALL[:5]}"}}\n{{"x\x9b": \n')
    return name


COMMANDS = [
    ("show", "FILE"),
    ("show", "FILE", "--id", ALL),
    ("check", "FILE"),
    ("check", "FILE", "--json"),
    ("check", "FILE", "--rule", ALL),
    ("check", "broken.jsonl"),
    ("convert", "FILE", f"o{ALL.replace('/', '')}.json", "--to", "sharegpt"),
    ("convert", "FILE", "out.json", "--to", ALL),
    ("papers", "simquac", "stats", "FILE", "--format", "csv"),
    ("papers", "recllmsim", "tasks", "tasks.yaml"),
    ("simulate", "simquac", "--topics", "topics.jsonl", "--out", f"r{ALL.replace('/', '')}", "--max-turns", "1"),
    ("simulate", "simquac", "--user", f"openai:{ALL}"),
    ("simulate", ALL),
    ("simulate", "simquac", f"--{ALL}"),
    ("simulate", "simquac", "--set", ALL),
    (ALL,),
    ("--domain", ALL, "doctor"),
]


@pytest.mark.parametrize(
    "arguments", COMMANDS, ids=lambda words: " ".join(words)[:40].encode("unicode_escape").decode()
)
def test_no_command_prints_it_raw(duologue, hostile, arguments, monkeypatch, httpserver):
    monkeypatch.setenv("OPENAI_API_KEY", "open.sesame.1")
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))  # which has no model and says so at once
    unknown = {"error": {"message": f"no model {ALL}", "code": "model_not_found"}}
    httpserver.expect_request("/v1/chat/completions").respond_with_json(unknown, status=404)
    code, out, err = duologue(*(hostile if words == "FILE" else words for words in arguments))
    assert not raw(out), out
    assert not raw(err), err
    assert out + err
    assert "a bug, not your input" not in err
    assert code in (0, 1, 2)
    if "--json" in arguments and code != 2:
        json.loads(out)


def test_a_run_whose_endpoint_fails_with_it_prints_it_written_out(duologue, monkeypatch, tmp_path):
    (tmp_path / "hostile_agent.py").write_text(f"def reply(messages):\n    raise RuntimeError({ALL!r})\n")
    (tmp_path / "topics.jsonl").write_text(json.dumps(TOPIC) + "\n")
    _, out, err = duologue(
        "simulate", "simquac", "--assistant", "hostile_agent:reply", "--topics", "topics.jsonl", "--out", "run"
    )
    assert "\\x1b[31m" in err
    assert not raw(out + err)
    if Path("run").exists():
        _, out, err = duologue("show", "run")
        assert not raw(out + err)


JSON_ALONE = """
import os, subprocess
from duologue.cli.printing import json_alone, print_json
with json_alone():
    print("printed", flush=True)
    os.write(1, b"of a library\\n")
    subprocess.run(["echo", "of a child"])
    print_json({"value": 1})
print("after")
"""


@pytest.mark.heavy
def test_json_is_alone_on_stdout_though_processes_and_libraries_print():
    done = subprocess.run([sys.executable, "-c", JSON_ALONE], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, '{\n  "value": 1\n}\nafter\n')
    assert done.stderr == "printed\nof a library\nof a child\n"
