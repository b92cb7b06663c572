"""The command, called as a shell would."""

import sys
from collections.abc import Callable

import pytest

from duologue.cli import main

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def duologue(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Exit code, stdout and stderr of `duologue ...`."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["duologue", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0 if code is None else 1), told.out, told.err

    return run
