"""Former names of modules, functions and classes: what answers them, row by row of `former_names.txt`."""

import re
import sys
import warnings
from importlib import import_module

import pytest

from duologue import former_names
from tests.test_imports import ROOT, file_of

ROWS = former_names.rows()
MODULES = {former: now for former, now in ROWS.items() if ":" not in former}
NAMES = {former: now for former, now in ROWS.items() if ":" in former}


def on_disk(module):
    return file_of(ROOT, tuple(module.split("."))) is not None


def taken(former, now):
    """Whether a package of today has the former module's name."""
    return now.startswith(f"{former}.")


def answered(get, *arguments):
    """What a call answers, and the messages of its DeprecationWarnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = get(*arguments)
    return value, {str(warning.message) for warning in caught if warning.category is DeprecationWarning}


def wrong_module(former, now):
    """What is wrong with a row of modules; empty if nothing is."""
    if former_names._name(former, {row: target for row, target in MODULES.items() if row != former}) == now:
        return "not needed"
    former, now = former.removesuffix(".*"), now.removesuffix(".*")
    if on_disk(former) != taken(former, now):
        return "hides a module of today, or nothing answers"
    inner = import_module(f"duologue.{now}")
    if taken(former, now):
        package = import_module(f"duologue.{former}")
        names = [name for name in vars(inner) if not name.startswith("_") and name not in vars(package)][:1]
        for name in names:
            value, messages = answered(getattr, package, name)
            if value is not vars(inner)[name] or messages != {f"duologue.{former}.{name} is now duologue.{now}.{name}"}:
                return f"{name} is answered otherwise: {messages}"
        return ""
    module, messages = answered(import_module, f"duologue.{former}")
    silent = former in former_names.SILENT
    right = silent or f"duologue.{former} is now duologue.{now}" in messages
    return "" if module is inner and right else f"answered with {module.__name__}, {messages}"


def wrong_name(former, target):
    """What is wrong with a row of names; empty if nothing is."""
    (module, _, name), (home, _, now) = former.partition(":"), target.partition(":")
    owner, _ = answered(import_module, f"duologue.{module}")
    whole = MODULES.get(module, "")
    if name in vars(owner) or (taken(module, whole) and target == f"{whole}:{name}"):
        return "not needed"
    value, messages = answered(getattr, owner, name)
    right = value is vars(import_module(f"duologue.{home}"))[now]
    says = messages == {f"{owner.__name__}.{name} is now duologue.{home}.{now}"}
    return "" if right and says else f"answered with {value!r}, {messages}"


def test_each_former_name_answers_with_that_of_today_and_a_warning_that_names_it(monkeypatch):
    for former in MODULES:
        if not taken(former, MODULES[former]):
            monkeypatch.delitem(sys.modules, f"duologue.{former.removesuffix('.*')}", raising=False)
    wrong = {}
    for rows, check in ((MODULES, wrong_module), (NAMES, wrong_name)):
        for former, now in rows.items():
            try:
                problem = check(former, now)
            except (ImportError, AttributeError, KeyError) as error:
                problem = repr(error)
            wrong |= {former: problem} if problem else {}
    assert wrong == {}
    lines = (ROOT / "former_names.txt").read_text().splitlines()
    assert len(ROWS) == sum(bool(line) and not line.startswith("#") for line in lines), "a name stands there twice"


def published():
    """The public classes, functions and type aliases of version 0.1.0, as module and name."""
    for line in (ROOT / "tests" / "names_of_0.1.0.txt").read_text(encoding="utf-8").splitlines():
        module, _, names = line.partition(": ")
        yield from ((module, name) for name in names.split() if not line.startswith("#"))


def answers(module, name):
    try:
        answered(getattr, answered(import_module, f"duologue.{module}")[0], name)
    except (ImportError, AttributeError):
        return False
    return True


def test_each_public_name_of_0_1_0_answers_or_stands_in_the_changelog_as_gone():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    listed = re.search(r"^- Gone, since .*?^- ", changes, re.MULTILINE | re.DOTALL)[0]
    gone = set(re.findall(r"`([\w.]+)`", listed))
    lost = [(module, name) for module, name in published() if not answers(module, name)]
    silent = {module if module in gone else f"{module}.{name}" for module, name in lost}
    assert silent == gone


def test_a_name_that_a_module_never_had_is_no_former_name():
    with pytest.raises(ImportError, match="cannot import name 'never'"):
        exec("from duologue.nodes.speakers import never")


def test_a_module_that_answers_former_names_keeps_its_own_loader():
    module = import_module("duologue.nodes.speakers")
    assert module.__loader__ is module.__spec__.loader
    assert type(module.__loader__) is type(import_module("duologue.nodes.contract").__loader__)
