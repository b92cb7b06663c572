"""`duologue ablate FILE`: variants of a cast from a file, simulated in turns and compared with the first."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from duologue.data.formats.record_lines import read

FILE = """
cast = "simquac"
repeats = 2
limit = 3
max_turns = 2
measures = ["rejected drafts", "turns", "own_words:words"]

[settings]
question_words = 8

[[variant]]
name = "as it is"

[[variant]]
name = "no validator"
replace = { question_validator = "own_words:accept" }

[[variant]]
name = "one <attempt>"
limits = { question_attempts = 1 }
"""
CODE = """
from duologue.nodes import accept_all as accept


def words(conversation):
    return sum(len(message.text.split()) for message in conversation.messages)
"""


PAGE = Path(__file__).parents[3] / "docs" / "test" / "compare_versions.md"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """An ablation in a folder of its own, with the module that it names."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_words", raising=False)
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "own_words.py").write_text(CODE)
    (folder / "ablation.toml").write_text(FILE)
    return folder / "ablation.toml"


def test_variants_of_a_file_are_simulated_in_turns_and_compared_with_the_first(duologue, file):
    code, out, err = duologue("ablate", file, "--out", "out", "--json")
    assert code == 0, err
    result = json.loads(out)
    assert [one["name"] for one in result["variants"]] == ["as it is", "no validator", "one <attempt>"]
    assert [one["counted"] for one in result["variants"]] == [6, 6, 6]
    assert len(result["differences"]) == 6
    assert result["variants"][1]["differs"] == ["question_validator: QuestionValidator -> accept_all"]
    runs = [read(Path("out", folder, "conversations.jsonl")) for folder in ("as-it-is", "no-validator", "one-attempt")]
    assert [one.id for one in runs[0]] == [one.id for one in runs[1]] == [one.id for one in runs[2]]
    page = Path(result["page"]).read_text()
    assert "one &lt;attempt&gt;" in page
    assert "one <attempt>" not in page
    # A second time nothing is simulated, and the table is the same.
    code, out, err = duologue("ablate", file, "--out", "out", "--resume", "--no-page")
    assert code == 0, err
    assert "All against as it is" in out
    assert "page:" not in out


def test_yaml_and_json_say_the_same_as_toml(duologue, file, tmp_path):
    plain = {
        "cast": "simquac",
        "limit": 1,
        "max_turns": 1,
        "measures": ["turns"],
        "variants": [{"name": "a"}, {"name": "b", "limits": {"question_attempts": 2}}],
    }
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(plain))
    (tmp_path / "a.json").write_text(json.dumps(plain))
    results = [json.loads(duologue("ablate", name, "--json")[1]) for name in ("a.yaml", "a.json")]
    assert [one["out"] for one in results] == ["out/ablation-1", "out/ablation-2"]
    assert results[0]["differences"] == results[1]["differences"]


def test_paths_of_a_file_begin_in_its_folder(duologue, file):
    topic = {"title": "The pier", "header": "Keepers", "section": "Three keepers lived there. The last left in 1968."}
    (file.parent / "topics.jsonl").write_text(json.dumps(topic))
    file.write_text(FILE.replace("limit = 3", 'scenarios = "topics.jsonl"'))
    code, out, err = duologue("ablate", file, "--json", "--repeats", 1)
    assert code == 0, err
    assert [one["planned"] for one in json.loads(out)["variants"]] == [1, 1, 1]


@pytest.mark.heavy
def test_a_bound_holds_over_all_variants_and_the_rest_is_simulated_later(duologue, file):
    code, out, err = duologue("ablate", file, "--out", "out", "--max-run-tokens", 3000, "--concurrency", 1, "--json")
    begun = [one["counted"] for one in json.loads(out)["variants"]]
    assert code == 1
    assert 0 < sum(begun) < 18
    assert max(begun) - min(begun) <= 1
    assert "continue: the same command with --out out --resume and a wider bound" in err
    code, out, err = duologue("ablate", file, "--out", "out", "--resume", "--json")
    assert code == 0, err
    whole = json.loads(duologue("ablate", file, "--out", "whole", "--json")[1])
    assert json.loads(out)["differences"] == whole["differences"]


def test_a_plan_counts_the_conversations_of_all_variants_and_writes_nothing(duologue, file):
    code, out, _err = duologue("ablate", file, "--out", "out", "--plan")
    assert code == 0
    assert "18 conversations" in out
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (("cast = ", "cast "), "is not TOML"),
        (('cast = "simquac"', 'cast = "simquack"'), "there is no cast 'simquack'"),
        (("repeats = 2", "repeats = 0"), "repeats"),
        (("measures = [", "measures = 'turns'  # ["), "measures: Input should be a valid list"),
        ((FILE, ""), "variant: Field required"),
        (("repeats = 2", "times = 2"), "times"),
        (('name = "no validator"', 'name = "as it is"'), "two have the name 'as it is'"),
        (('name = "no validator"', ""), "variant.1.name"),
        (("own_words:accept", "own_words:acept"), "variant 'no validator': question_validator"),
        (("own_words:words", "own_words:wrods"), "has no 'wrods'"),
        (('"turns"', '"turn"'), "did you mean 'turns'"),
        (("question_attempts", "attempts"), "limits: there is no 'attempts'"),
        (("limit = 3", 'scenarios = "topics.jsonl"'), "topics.jsonl"),
    ],
)
def test_a_wrong_file_is_refused_in_a_line_before_anything_is_simulated(duologue, file, changed, named):
    file.write_text(FILE.replace(*changed))
    code, out, err = duologue("ablate", file, "--out", "out")
    assert (code, out, len(err.strip().splitlines())) == (2, "", 1)
    assert named in err
    assert not Path("out").exists()


def test_a_variant_whose_node_fails_is_counted_out_with_the_reason(duologue, file):
    with (file.parent / "own_words.py").open("a") as code:
        code.write("\n\nasync def breaks(state, runtime):\n    raise RuntimeError('no annotator')\n")
    file.write_text(FILE.replace("own_words:accept", "own_words:breaks"))
    code, out, err = duologue("ablate", file, "--out", "out", "--json")
    assert code == 1
    assert [one["counted"] for one in json.loads(out)["variants"]] == [6, 0, 6]
    assert "no annotator" in err
    assert "6 conversations do not count; continue: the same command with --out out --resume" in err


@pytest.mark.heavy
def test_the_documented_file_prints_the_documented_table(duologue):
    section = PAGE.read_text(encoding="utf-8").partition("## More than two versions")[2]
    blocks = dict(re.findall(r"```(toml|text)\n(.*?)```", section, re.DOTALL))
    Path("ablation.toml").write_text(blocks["toml"])
    code, out, err = duologue("ablate", "ablation.toml", "--out", "out")
    assert code == 0, err
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[1:11] == blocks["text"].splitlines()


def test_a_folder_to_resume_must_be_named(duologue, file):
    code, _out, err = duologue("ablate", file, "--resume")
    assert (code, "--resume needs --out" in err) == (2, True)


def test_each_variant_that_replays_is_checked_before_anything_is_simulated(duologue, file):
    others = "--limit 2 --max-turns 1 --out others".split()
    Path("topics.jsonl").write_text(
        '{"title": "T", "background": "B.", "header": "H", "section": "It was built in 1900."}\n'
    )
    duologue("simulate", "simquac", "--topics", "topics.jsonl", *others)
    variant = '[[variant]]\nname = "stored"\nsettings = { user = "replay:REPLAYED" }\n'.replace(
        "REPLAYED", str(Path.cwd() / "others")
    )
    file.write_text(file.read_text() + variant)
    code, _out, err = duologue("ablate", file, "--out", "out")
    assert code == 2
    assert "which has no conversation about any of the scenarios" in err
    assert not Path("out").exists()
