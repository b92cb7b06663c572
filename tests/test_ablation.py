"""`duologue.ablate`: several variants of a cast on the same scenarios, all compared with the first."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import duologue
from duologue.analysis.over_users.paired import holm, paired_difference
from duologue.errors import SettingError
from duologue.graphs import simquac
from duologue.nodes import simquac as simquac_nodes
from duologue.studies.ablation.ablating import Ablation

CODE = """
import os


def words(conversation):
    return sum(len(message.text.split()) for message in conversation.messages)


def long(conversation):
    return words(conversation) > 60


def broken(conversation):
    return "many"


def reject(draft, state):
    return "too_dull"


NUMBER = 4
"""
STRICT = {"cast": "simquac", "settings": {"question_words": 6}}
FEW = {"limit": 6, "max_turns": 2, "repeats": 2}


@pytest.fixture(autouse=True)
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(tmp_path)
    Path("own_measures.py").write_text(CODE)
    sys.modules.pop("own_measures", None)
    yield
    sys.modules.pop("own_measures", None)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Ablation:
    variants = {
        "as it is": STRICT,
        "no validator": {**STRICT, "replace": {"question_validator": "duologue.nodes:accept_all"}},
        "one attempt": {**STRICT, "limits": {"question_attempts": 1}},
    }
    measures = ["rejected drafts", "turns", "self-repetition", "section coverage", lambda one: len(one.messages)]
    return duologue.ablate(variants, measures=measures, out=tmp_path_factory.mktemp("ablation") / "out", **FEW)


def test_all_variants_are_compared_with_the_first_in_pairs(result):
    first, off = (
        {one.id: sum(a.verdict == "rejected" for a in one.attempts()) for one in result.records[name]}
        for name in ("as it is", "no validator")
    )
    assert first.keys() == off.keys()
    assert len(first) == 12
    scenarios = [one.scenario["section"] for one in result.records["as it is"]]
    pairs = {section: [] for section in scenarios}
    for section, name in zip(scenarios, first, strict=True):
        pairs[section].append((first[name], off[name]))
    expected = paired_difference(list(pairs.values()), scale=None)
    one = result.difference("no validator", "rejected drafts")
    assert (one.difference, one.low, one.p) == (expected.difference, expected.low, expected.p)
    assert (one.scenarios, one.pairs) == (6, 12)
    assert one.difference < 0


def test_p_is_adjusted_over_variants_and_measures(result):
    assert len(result.differences) == 10
    assert [one.adjusted_p for one in result.differences] == holm([one.p for one in result.differences])
    assert "adjusted p: for 10 differences" in result.notes[0]


def test_what_differs_from_the_first_is_listed(result):
    assert [one.differs for one in result.variants] == [
        (),
        ("question_validator: QuestionValidator -> accept_all",),
        ("limits.question_attempts: 4 -> 1",),
    ]
    assert "one attempt: limits.question_attempts: 4 -> 1" in result.notes


def test_the_table_has_a_row_for_each_measure_and_variant(result):
    table = result.table()
    assert len(table.rows) == 15
    assert table.rows[0][:2] == ("rejected drafts", "as it is")
    assert table.rows[0][3:] == (None,) * 6
    shares = [one for one in result.differences if one.measure == "section coverage"]
    assert all(-1 <= one.low <= one.high <= 1 for one in shares)  # shares have an interval without differences too
    assert "All against as it is" in result._repr_html_()
    assert repr(result).startswith("<3 variants; ")
    with pytest.raises(KeyError):
        result.difference("as it is", "turns")


def test_each_variant_has_a_run_folder_and_a_call_that_resumes_simulates_nothing_anew(result):
    assert sorted(path.name for path in result.folder.iterdir()) == ["as-it-is", "no-validator", "one-attempt"]
    before = {path: path.read_bytes() for path in result.folder.rglob("conversations.jsonl")}
    variants = {
        "as it is": STRICT,
        "one attempt": {**STRICT, "limits": {"question_attempts": 1}},
        "two attempts": {**STRICT, "limits": {"question_attempts": 2}},
    }
    again = duologue.ablate(variants, measures=["turns"], out=result.folder, resume=True, **FEW)
    assert (len(again.differences), len(again.records["two attempts"])) == (2, 12)
    assert {path: path.read_bytes() for path in before} == before


def test_measures_are_of_records_of_realism_and_functions_by_import_path():
    measures = ["messages", "message length", "no final mark", "own_measures:words", "own_measures:long", "score depth"]
    casts = {"one": simquac.cast(), "other": simquac.cast(question_words=12)}
    result = duologue.ablate(casts, measures=measures, limit=2, max_turns=1)
    means = {(one.measure, one.variant): one for one in result.means}
    records = result.records["one"]
    words = [sum(len(message.text.split()) for message in one.messages) for one in records]
    assert means["own_measures:words", "one"].mean == sum(words) / 2
    assert means["messages", "other"].mean == 2
    assert means["score depth", "one"].mean is None
    assert means["message length", "one"].mean > 0
    for share in ("own_measures:long", "no final mark"):  # shares have an interval without differences too
        assert result.difference("other", share).low >= -1
    assert result.difference("other", "messages").low is None


def test_without_names_measures_are_those_of_records_that_are_not_zero_everywhere():
    goals = [{"goal": f"book table {n}", "success": {"text_contains": "booked"}} for n in range(3)]
    agents = {name: {"cast": "agent_test", "settings": {"assistant": f"agents:{name}"}} for name in ("good", "bad")}
    Path("agents.py").write_text(
        "def good(messages):\n    return 'It is booked.'\n\n\ndef bad(messages):\n    raise ValueError('no')\n"
    )
    result = duologue.ablate(agents, goals, max_turns=2)
    assert [one.measure for one in result.differences] == ["success", "tokens", "turns"]
    # A conversation that one's own agent ended counts.
    assert result.difference("bad", "success").difference == -1
    assert [one.counted for one in result.variants] == [3, 3]


def test_a_bound_holds_over_all_variants_and_conversations_that_it_ended_do_not_count():
    conduct = duologue.runs.Conduct(max_run_tokens=20_000)
    variants = {"one": "simquac", "other": STRICT}
    result = duologue.ablate(variants, measures=["turns"], conduct=conduct, concurrency=1, limit=6)
    counted = [one.counted for one in result.variants]
    assert 0 < sum(counted) < 12
    assert max(counted) - min(counted) <= 1  # a conversation of each in turn
    assert any("do not count" in note for note in result.notes)
    assert result.differences[0].pairs == min(counted)


def test_a_live_cast_is_a_variant_too():
    cast = simquac.cast()
    same = cast.replace(user_prompt_selector=simquac_nodes.next_question(cast.prompts))
    result = duologue.ablate({"guides": cast, "no guides": same}, measures=["turns"], limit=1, max_turns=1)
    assert result.variants[1].differs[0] == "user_prompt_selector: StudentPrompts -> OnePrompt"
    assert json.loads(json.dumps(result.to_json()))["variants"][1]["name"] == "no guides"


@pytest.mark.parametrize(
    ("variants", "options", "named"),
    [
        ({"one": "simquac"}, {}, "at least two variants"),
        ({"one": "simquac", "": "simquac"}, {}, "'' names no variant"),
        ({"one": "simquac", "../": "simquac"}, {}, "'../' names no variant"),
        ({"a b": "simquac", "A-b": "simquac"}, {}, "2 variants have 1 names of folders"),
        ({"one": "simquac", "other": 3}, {}, "variant 'other': is int"),
        ({"one": "simquac", "other": {"cast": "simquac", "nodes": {}}}, {}, "variant 'other': nodes"),
        ({"one": "simquac", "other": {}}, {}, "variant 'other': names no cast"),
        ({"one": "simquack", "other": {}}, {}, "variant 'one': there is no cast 'simquack'"),
        ({"one": "simquac", "other": "recllmsim"}, {}, "its cast is 'recllmsim', that of the first is 'simquac'"),
        (
            {"one": "simquac", "other": {"cast": "simquac", "settings": {"words": 3}}},
            {},
            "variant 'other': simquac: there is no setting 'words'",
        ),
        (
            {"one": "simquac", "other": {"cast": "simquac", "replace": {"question_validator": "own_measures:none"}}},
            {},
            "variant 'other': question_validator: the module 'own_measures' has no 'none'",
        ),
        (
            {"one": "simquac", "other": {"cast": "simquac", "limits": {"attempts": 3}}},
            {},
            "variant 'other': limits: there is no 'attempts'",
        ),
        (
            {"one": "simquac", "other": {"cast": "simquac", "replace": {"limits": {"max_turns": 1}}}},
            {},
            "variant 'other': replace: limits are not a part",
        ),
        ({"one": "simquac", "other": {"cast": "simquac", "limits": {"seed": 3}}}, {}, "seed is that of all variants"),
        ({"one": "simquac", "other": {"cast": "simquac", "limits": {"max_turns": 0}}}, {}, "at least 1"),
        ({"one": "simquac", "other": {"cast": "simquac", "limits": {"max_turns": "x"}}}, {}, "whole number"),
        ({"one": "simquac", "other": STRICT}, {"measures": []}, "give a list of names"),
        ({"one": "simquac", "other": STRICT}, {"measures": ["turn"]}, "no measure 'turn': did you mean 'turns'"),
        ({"one": "simquac", "other": STRICT}, {"measures": ["turns", "turns"]}, "'turns' is given twice"),
        ({"one": "simquac", "other": STRICT}, {"measures": ["own_measures:none"]}, "has no 'none'"),
        ({"one": "simquac", "other": STRICT}, {"measures": ["own_measures:NUMBER"]}, "own_measures:NUMBER is int"),
        ({"one": "simquac", "other": STRICT}, {"measures": ["own_measures:broken"]}, "gave str, not a number"),
        ({"one": "simquac", "other": STRICT}, {"conduct": duologue.runs.Conduct(processes=2)}, "in one process"),
        ({"one": "agent_test", "other": "agent_test"}, {}, "--scenarios: give a file"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_line(variants, options, named):
    with pytest.raises(SettingError) as caught:
        duologue.ablate(variants, **{"limit": 1, "max_turns": 1, **options})
    assert named in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
