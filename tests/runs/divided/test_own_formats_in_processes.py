"""A run in several processes knows the log formats that were registered for it, or says why it cannot."""

import sys

import pytest

from duologue import data
from duologue.errors import SettingError
from duologue.runs.divided.sharing import _own_formats

pytestmark = pytest.mark.usefixtures("own_registry")

MODULE = """
from duologue import data

def recognises(source):
    return source.text.startswith("== ")

def read(path):
    return []

FORMAT = data.Format("till", "a till", recognises, read)
"""


def test_a_format_of_a_module_goes_with_the_work(tmp_path, monkeypatch):
    (tmp_path / "till_of_a_run.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import till_of_a_run  # type: ignore[import-not-found]

    data.register_format(till_of_a_run.FORMAT)
    assert _own_formats() == (till_of_a_run.FORMAT,)
    sys.modules.pop("till_of_a_run")


def test_a_format_that_cannot_be_imported_is_refused_by_name():
    data.register_format(data.Format("till", "a till", lambda source: False, list))
    with pytest.raises(
        SettingError, match="the format 'till' cannot be imported by another process: define its functions"
    ):
        _own_formats()
