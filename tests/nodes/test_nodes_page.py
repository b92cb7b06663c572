"""The tables of docs/graph/state.md have the keys of the state, of drafts and of verdicts, in order."""

import re
from pathlib import Path
from typing import Any

import pytest

from duologue import nodes

PAGE = (Path(nodes.__file__).parents[1] / "docs" / "graph" / "state.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("shape", [nodes.State, nodes.Draft, nodes.Verdict])
def test_the_table_has_every_key_in_order_with_a_writer_and_a_meaning(shape: Any) -> None:
    table = re.search(rf"^### `{shape.__name__}`\n(.*?)(?=^##)", PAGE, re.DOTALL | re.MULTILINE)
    assert table is not None
    rows = re.findall(r"^\| `(\w+)` \| `.+?` \| (.+?) \| (.+?) \|$", table[1], re.MULTILINE)
    assert [key for key, *_ in rows] == [*shape.__annotations__]
    assert all(writer.strip() and meaning.strip() for _, writer, meaning in rows)
