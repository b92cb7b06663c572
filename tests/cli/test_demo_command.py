"""`duologue demo`, and what README copies of it."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def lines(text):
    """The lines that are told, without the room that a terminal's columns leave behind them."""
    return [line.rstrip() for line in text.splitlines()]


def test_the_demo_prints_a_conversation_with_rejected_drafts_of_both_sides_and_writes_its_page(duologue, tmp_path):
    code, out, err = duologue("demo", "--out", tmp_path / "demo")
    assert (code, err) == (0, "")
    assert "No language model takes part: questions and wrong drafts were" in out
    assert "are replayed" in out
    for reason in ("rejected, in background", "rejected, not in section", "rejected, enumeration"):
        assert reason in out
    assert "\x1b" not in out  # no terminal, no colour
    page = (tmp_path / "demo" / "page.html").read_text()
    assert "in background" in page
    assert lines(out)[lines(out).index("Next:") - 2].strip() == str(tmp_path / "demo" / "page.html")
    commands = [line for line in lines(out.partition("Next:")[2]) if "duologue " in line]
    assert [line.split()[1] for line in commands] == ["simulate", "simulate", "check"]
    assert all(len(line) <= 80 for line in lines(out) if str(tmp_path) not in line)


def test_the_demo_is_the_same_every_time_and_takes_no_folder_of_another_run(duologue, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (first, again) = (duologue("demo")[1] for _ in range(2))
    assert first.replace("demo-1", "demo-2") == again
    code, _, err = duologue("demo", "--out", "out/demo-1")
    assert (code, "out/demo-1: holds a run already: choose another folder" in err) == (2, True)


def test_the_demo_tells_a_program_where_run_and_page_are(duologue, tmp_path):
    code, out, _ = duologue("demo", "--out", tmp_path / "demo", "--json")
    document = json.loads(out)
    assert (code, document["conversations"], Path(document["page"]).is_file()) == (0, 3, True)
    assert f'"{document["shown"]}"' in (tmp_path / "demo" / "conversations.jsonl").read_text()


def test_a_model_plays_both_sides_of_two_conversations_of_each_cast_on_one_page(duologue, tmp_path):
    code, out, _ = duologue("demo", "--model", "offline", "--out", tmp_path / "demo", "--json")
    assert (code, json.loads(out)["conversations"]) == (0, 4)
    page = (tmp_path / "demo" / "page.html").read_text()
    assert "Apollo 11" in page
    assert "travel planning" in page
    assert duologue("demo", "--model", "offline", "--out", tmp_path / "demo")[0] == 2


def test_what_readme_shows_is_what_the_demo_prints(duologue, tmp_path):
    _, out, _ = duologue("demo", "--out", tmp_path / "demo")
    (shown,) = re.findall(r"```text\n(Chess: .*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    assert "\n".join(lines(shown)) in "\n".join(lines(out))


def test_a_terminal_gets_colours_and_no_color_takes_them_away(duologue, tmp_path):
    from rich.console import Console

    from duologue.cli.demo import dialogue
    from duologue.data import load

    duologue("demo", "--out", tmp_path / "demo")
    shown = load(tmp_path / "demo").conversations[0]

    def printed(**settings):
        console = Console(width=80, force_terminal=True, highlight=False, **settings)
        with console.capture() as capture:
            console.print(dialogue(shown))
        return capture.get()

    assert "\x1b[31m" in printed(color_system="standard")
    assert "\x1b[31m" not in printed(no_color=True)
