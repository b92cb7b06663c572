"""A run in several processes knows the domains and formats that were registered for it, or says why it cannot."""

import sys

import pytest

import duologue
from duologue import data
from duologue.errors import SettingError
from duologue.graphs import simquac
from duologue.runs import Conduct
from duologue.runs.divided import sharing
from duologue.runs.divided.sharing import _own_domains, _own_formats

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


class Till(data.Domain):
    """A domain that holds what no other process can have."""

    kind = "till"

    def __init__(self):
        self.total = lambda prices: sum(prices)


def test_a_domain_that_cannot_be_sent_is_refused_by_name():
    data.domains.register(Till())
    with pytest.raises(SettingError, match=r"the domain .till. cannot be sent to another process: .*lambda"):
        _own_domains()


def test_work_that_cannot_be_sent_ends_the_run_and_leaves_no_worker_waiting(monkeypatch, tmp_path, topics):
    monkeypatch.setattr(sharing, "_own_domains", lambda: (Till(),))
    with pytest.raises(AttributeError, match="lambda"):
        duologue.simulate(
            simquac.cast(user="offline", assistant="offline"),
            simquac.scenarios(topics()),
            out=tmp_path / "run",
            conduct=Conduct(processes=2),
        )
