"""What is said of files that cannot be read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.data import DataError


@pytest.fixture
def fault() -> Callable[..., str]:
    """A function that gives what a reader says of a file that it cannot read: one line, the file first."""

    def fault_line(read: Callable[..., object], path: Path | str, **settings: Any) -> str:
        with pytest.raises(DataError) as caught:
            read(path, **settings)
        line = str(caught.value)
        assert line.startswith(str(path))
        assert "\n" not in line
        return line

    return fault_line
