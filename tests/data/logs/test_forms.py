"""The forms of logs: each has a sure sign, which the docs and `check --form` name."""

import json
import re
from pathlib import Path

import pytest

from duologue.data import domains, load
from duologue.data.logs.forms import FORMS
from tests.tree import ROOT


def rows_of_docs() -> list[str]:
    table = (
        (ROOT / "docs/start/log_formats.md")
        .read_text(encoding="utf-8")
        .partition("| form | sure sign |")[2]
        .partition("\n\n")[0]
    )
    return re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


def test_each_form_has_a_sign_and_a_row_in_the_docs() -> None:
    assert [form.name for form in domains.known_formats() if not form.sign] == []
    assert sorted(rows_of_docs()) == sorted(["messages", "sharegpt", *(form.name for form in FORMS)])


@pytest.mark.parametrize("value", [{"data": [{"embedding": [0.1]}]}, {"title": "a"}, {"data": {"a": 1}}], ids=str)
def test_a_key_that_many_files_have_is_no_sign(value: object) -> None:
    Path("odd.json").write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(Exception, match="not in a known format"):
        load("odd.json")
