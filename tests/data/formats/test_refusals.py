"""Files that are not read are named for what they are, with what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from duologue.data import load


@pytest.mark.parametrize("text", ["12/03/24 was a day.\n", "1\n2\n3\n", "Ann: Hello\n"])
def test_other_texts_are_of_no_known_format(text: str, fault: Callable[..., str]) -> None:
    Path("log").write_text(text, encoding="utf-8")
    assert "not in a known format" in fault(load, "log")
