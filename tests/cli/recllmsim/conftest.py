"""People's conversations with rated replies."""

from pathlib import Path

import pytest

from tests.cli.recllmsim.rated import labels_of_reply, write


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write(tmp_path / "people", labels_of_reply)
