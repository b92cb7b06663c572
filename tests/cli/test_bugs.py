"""What a command does when the mistake is ours."""

import re
from pathlib import Path

import pytest

from duologue.cli import commands, printing


def test_a_bug_leaves_its_traceback_in_a_file_and_exit_code_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(**options: object) -> None:
        raise ValueError("an index that should be there, asked with Bearer abcdef123456")

    monkeypatch.setattr(commands, "parser", lambda: broken)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(SystemExit) as ended:
        commands.main()
    assert ended.value.code == 70
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "a bug, not your input: ValueError: an index" in line
    file = re.search(r"\S+\.log", line)
    assert file is not None
    trace = Path(file[0]).read_text()
    assert "in broken" in trace
    assert "abcdef123456" not in trace + line


def test_control_characters_of_an_error_are_written_out_and_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printing.say("tool failed: \x1b[31mred\x1b[0m [bold]\r\x07 and\nmore")
    commands._failed("\x1b]0;title\x07")
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "\x07" not in err
    assert "\r" not in err
    assert "\\x1b[31mred\\x1b[0m [bold]" in err
    assert "and\nmore" in err
