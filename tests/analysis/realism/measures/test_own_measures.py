"""Measures of somebody's own: four fields, a registry, and one line where a function fails."""

import json
import sys

import numpy as np
import pytest

import duologue
from duologue.analysis import realism
from duologue.analysis.realism.measures import MEASURES, all_measures, registry
from duologue.analysis.realism.measures.transcripts import transcripts_of
from duologue.data import Conversation, Message
from duologue.errors import SettingError

pytestmark = pytest.mark.usefixtures("own_measures")

WORDS = ("Sun.", "Rain and wind.", "Snow on the hills today.", "Fog.")


def side(name, count=10, text=None):
    return [
        Conversation(
            id=f"{name}{number}",
            scenario={"user": f"{name}{number}", "task": "weather"},
            messages=(
                Message(role="user", text=text or WORDS[number % len(WORDS)]),
                Message(role="assistant", text="I see."),
                Message(role="user", text=WORDS[(number * 3 + 1) % len(WORDS)]),
            ),
        )
        for number in range(count)
    ]


def is_short(user, number):
    return len(user.texts[number]) < 6


def measure(**changes):
    return realism.Measure(
        **{"name": "short ones", "definition": "Share of short messages.", "unit": "share", "of_text": is_short}
        | changes
    )


def compared(sim=None, human=None, **settings):
    return realism.compare(
        sim or side("s", text="Hello there, it is me."), human or side("h"), shufflings=50, halvings=5, **settings
    )


def test_four_fields_are_a_measure():
    short = measure()
    assert short.of(transcripts_of(side("h", 2), "en")) == [0.5, 0.5]
    count = measure(of_text=None, of_conversation=lambda user: len(user.texts))
    assert count.of(transcripts_of(side("h", 2), "en")) == [2, 2]
    assert (short.family, short.direction, short.survives_translation, short.pairwise) == (
        "own",
        "higher values",
        True,
        False,
    )
    with pytest.raises(SettingError, match="the measure 'short ones' has no function: give of_conversation"):
        measure(of_text=None)


@pytest.mark.heavy
def test_a_registered_measure_is_in_report_json_and_page(tmp_path):
    assert realism.register_measure(measure()).name == "short ones"
    report = duologue.compare(side("s", text="Hello there, it is me."), side("h"), out=tmp_path / "out", seed=1)
    row = next(row for row in report.measures if row.name == "short ones")
    assert (row.sim_conversations, row.human_conversations, row.family, row.is_ranked) == (10, 10, "own", True)
    assert row.examples_sim
    assert any(note.startswith("Measures of your own: short ones.") for note in report.notes)
    assert "short ones" in (tmp_path / "out" / "report.html").read_text()
    written = json.loads((tmp_path / "out" / "report.json").read_text())
    assert "short ones" in {row["name"] for row in written["measures"]}


@pytest.mark.heavy
def test_the_figures_of_shipped_measures_stay_as_they_are_beside_one_of_your_own():
    before = {row.name: row for row in compared().measures}
    realism.register_measure(measure())
    after = {row.name: row for row in compared().measures}
    assert set(after) == {*before, "short ones"}
    adjusted = {"p_adjusted", "tasks", "examples_sim", "examples_human"}
    for name, row in before.items():
        assert after[name].model_dump(exclude=adjusted) == row.model_dump(exclude=adjusted)


def test_none_and_nan_are_conversations_without_a_value():
    def of_some(user):
        return {"h0": None, "h1": float("nan"), "h2": np.float32(2), "h3": True}.get(user.cluster.split(":")[-1], 1)

    values = measure(of_text=None, of_conversation=of_some).of(transcripts_of(side("h", 5), "en"))
    assert values == [None, None, 2, 1, 1]
    realism.register_measure(measure(of_text=None, of_conversation=lambda user: None))
    row = next(row for row in compared().measures if row.name == "short ones")
    assert (row.effect, row.reason) == (None, "neither group has a value")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda user: [][0], "in conversation s0: IndexError: list index out of range .test_own_measures.py, line"),
        (
            lambda user: "many",
            "in conversation s0: TypeError: gave str, not a number: give a number, or None where it has no value$",
        ),
        (lambda user: float("inf"), "in conversation s0: ValueError: gave an infinite value"),
        (lambda user: [1], "in conversation s0: TypeError: gave list, not a number"),
        (lambda: 1, "in conversation s0: TypeError: .* takes 0 positional arguments but 1 was given"),
    ],
)
def test_a_function_that_fails_is_one_line_with_the_measure_and_the_conversation(function, words):
    realism.register_measure(measure(of_text=None, of_conversation=function))
    with pytest.raises(SettingError, match=f"^the measure 'short ones' failed {words}") as caught:
        compared()
    assert "\n" not in str(caught.value)


def test_a_function_of_a_whole_side_is_checked_too():
    with pytest.raises(SettingError, match="'short ones' failed: ZeroDivisionError"):
        compared(measures=[measure(of=lambda users: 1 / 0)])
    with pytest.raises(SettingError, match="'short ones' gave 1 values of 10 conversations"):
        compared(measures=[measure(of=lambda users: [1])])


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: "short", "'short' is not a measure"),
        (lambda: measure(name=" "), "has no name"),
        (lambda: measure(definition=""), "has no definition"),
        (lambda: measure(direction=3), "has no direction: give it a text"),
        (lambda: measure(name="thanks"), "there is a shipped measure 'thanks': give yours another name"),
        (lambda: measure(of_text=lambda user, number: 1), "there is a measure 'short ones' already: give replace=True"),
    ],
)
def test_what_cannot_be_registered_is_named_and_changes_nothing(build, words):
    first = realism.register_measure(measure())
    assert realism.register_measure(first) is first
    with pytest.raises(SettingError, match=words):
        realism.register_measure(build())
    assert all_measures() == (*MEASURES, first)


def test_a_measure_of_yours_may_be_replaced():
    realism.register_measure(measure())
    other = realism.register_measure(measure(unit="ratio"), replace=True)
    assert registry.registered() == (other,)


def test_it_reads_chinese():
    pytest.importorskip("jieba")
    realism.register_measure(measure(of_text=lambda user, number: len(user.words[number]) == 1))
    chinese = side("h", text="谢谢")
    report = compared(chinese, side("s", text="谢谢"), language="zh")
    assert report.language in ("zh", None)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("MEASURE = 3", "3 is not a measure"),
        ("import nowhere_at_all", "ModuleNotFoundError when it is imported"),
        ("import sys; sys.none", "AttributeError when it is imported"),
        ("OTHER = 3", "the module 'short_package' has no 'MEASURE'"),
    ],
)
def test_a_broken_package_is_one_warning(caplog, monkeypatch, tmp_path, source, reason):
    (tmp_path / "short_package.py").write_text(source)
    metadata = tmp_path / "short_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: short-package\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{registry.GROUP}]\nshort = short_package:MEASURE\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert all_measures() == MEASURES
    sys.modules.pop("short_package", None)
    (record,) = caplog.records
    assert f"entry point short = short_package:MEASURE: its measure is left out: {reason}" in record.getMessage()
