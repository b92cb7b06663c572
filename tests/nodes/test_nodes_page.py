"""The tables of docs/reference/nodes.md are the keys of the state, in order, with their types."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "nodes.md").read_text(encoding="utf-8")
MODULE = ast.parse((ROOT / "nodes" / "state.py").read_text(encoding="utf-8"))


def keys_of(name: str) -> list[tuple[str, str]]:
    """Keys and types of a `TypedDict` of `nodes/state.py`, in its order."""
    (definition,) = (node for node in MODULE.body if isinstance(node, ast.ClassDef) and node.name == name)
    fields = [node for node in definition.body if isinstance(node, ast.AnnAssign)]
    return [(ast.unparse(field.target), _without_required(ast.unparse(field.annotation))) for field in fields]


def _without_required(annotation: str) -> str:
    required = re.fullmatch(r"Required\[(.*)\]", annotation)
    return required[1] if required else annotation


def rows_of(name: str) -> list[tuple[str, str, str, str]]:
    """The rows of the table below a heading of the page."""
    table = re.search(rf"^### `{name}`\n(.*?)(?=^##)", PAGE, re.DOTALL | re.MULTILINE)
    assert table is not None
    return re.findall(r"^\| `(\w+)` \| `(.+?)` \| (.+?) \| (.+?) \|$", table[1], re.MULTILINE)


@pytest.mark.parametrize("name", ["State", "Draft", "Verdict"])
def test_the_table_has_every_key_in_order_with_its_type(name: str) -> None:
    assert [(key, type_.replace("\\|", "|")) for key, type_, _, _ in rows_of(name)] == keys_of(name)


@pytest.mark.parametrize("name", ["State", "Draft", "Verdict"])
def test_every_key_has_a_writer_and_a_meaning(name: str) -> None:
    for key, _, writer, meaning in rows_of(name):
        assert writer.strip(), key
        assert meaning.strip(), key
