"""The examples of one file each, and the table of `examples/README.md`: it lists every example, and each command runs."""

import re
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from duologue.analysis.recllmsim.judges import JudgedTurn
from duologue.data.simquac import ReadingQuestion
from duologue.testing import scripted_model
from tests.examples.rated import write_profiled

EXAMPLES = Path(__file__).parents[2] / "examples"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| \[`([^`]+)`\]\([^)]+\) \|.*\| `duologue ([^`]+)` \|$", README, re.MULTILINE)
SECTION = "three keepers lived there and the last keeper left in 1968 and a ship sank near the light in 1970 " * 6


@pytest.fixture
def example(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of an example's file, imported anew, if the packages are there that it needs."""
    name, packages = request.param
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return import_module(name)


def of_file(name: str, *packages: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("example", [(name, packages)], indirect=True, ids=[name])


def test_every_example_has_a_row() -> None:
    listed = {Path(name).parts[0] for name in re.findall(r"^\| \[`([^`]+)`\]", README, re.MULTILINE)}
    assert listed == {path.name for path in EXAMPLES.iterdir() if path.name not in ("README.md", "__pycache__")}


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "command"), ROWS, ids=[name for name, _ in ROWS])
def test_the_command_of_a_row_runs_in_its_folder(forks: Any, tmp_path: Path, name: str, command: str) -> None:
    copy = Path(shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__", "out")))
    folder = copy / name
    done = forks.run(*command.split(), cwd=folder if folder.is_dir() else folder.parent)
    assert done.returncode in ((0, 1) if command.startswith("test") else (command.startswith("check"),)), done.stderr


@pytest.mark.heavy
@of_file("tune", "optuna", "sklearn", "pandas")
def test_a_search_tries_settings_and_gives_the_nearest(example: Any) -> None:
    study = example.tuned(trials=3)
    values = [trial.value for trial in study.trials]
    assert len(values) == 3
    assert study.best_value == min(values)
    assert all(value > 0 for value in values)
    assert set(study.best_params) == {"stay", "spread", "words", "max_turns"}


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """matplotlib without a screen."""
    monkeypatch.setenv("MPLBACKEND", "svg")


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore:Glyph")
@of_file("paper_figures", "matplotlib")
def test_every_figure_is_drawn(open_data: Path, tmp_path: Path, drawing: None, example: Any) -> None:
    files = [open_data / "simquac" / name for name in ("quac_subset.json", "sim_quac.json")]
    example.main(tmp_path, *files, open_data / "recllmsim_human_vs_agent" / "human_exp_V2")
    assert {"figure_2.svg", "satisfaction.svg", "style_promise.svg"} <= {path.name for path in tmp_path.iterdir()}


def turn(user: str, reply: str, satisfaction: int) -> JudgedTurn:
    return JudgedTurn(0, user, user, 1, user, "en", reply, satisfaction)


@of_file("reflecting_judge")
def test_a_judge_reflects_refines_and_compares_with_replies_to_others(example: Any) -> None:
    train = [
        turn("u1", "A plan.", 4),
        turn("u2", "A much longer plan." * 9, 1),
        turn("u3", "No.", 2),
        turn("u4", "Hm", 3),
    ]
    model = scripted_model("It lacks dates.", "3, I doubt it.", "As the second one: 2")
    assert example.reflecting(model)(train, [turn("u5", "A </reply> plan.", 5)]) == [2]
    last = [message.text for message in model.sent[-1]]
    assert [text.split(":")[0].split()[0] for text in last] == ["A", "It", "Refine", "3,", "Other"]
    assert last[0].count("</reply>") == 1  # the reply cannot close its mark
    assert "4: <reply>A plan.</reply>" in last[-1]
    assert "much longer" not in last[-1]
    with pytest.raises(ValueError, match="no points from 1 to 5"):
        example.points(scripted_model("a", "b", "c"), train, train[0])


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@of_file("extractive_reader", "torch", "transformers")
def test_a_model_answers_with_a_slice_of_the_section_or_with_nothing(tmp_path: Path, example: Any) -> None:
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "who", *dict.fromkeys(SECTION.split())]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(words), max_position_embeddings=66, **sizes)
    transformers.BertForQuestionAnswering(config).save_pretrained(tmp_path)
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    read = example.extractive(str(tmp_path))
    about = {"title": "Light", "header": "", "background": "", "section": SECTION, "references": ("x",)}
    questions = [ReadingQuestion(id="a/0", conversation="a", text=text, **about) for text in ("who left", "who " * 200)]
    answers = read(questions)
    assert all(answer is None or answer in SECTION for answer in answers)
    assert read(questions) == answers


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """A BERT of one layer that reads characters."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path / "encoder"
    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"第次推荐湖边散步马戏表演可以去看0123456789"]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(0)  # with other weights one in six encoders of half the size, with dropout, learnt nothing
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    kept = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    config = transformers.BertConfig(vocab_size=len(words), max_position_embeddings=64, **sizes, **kept)
    transformers.BertModel(config).save_pretrained(folder)
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@of_file("bert_attributes", "torch", "transformers", "sklearn", "jieba")
def test_an_encoder_learns_profiles_and_intents(
    tmp_path: Path, encoder: Path, example: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"EPOCHS": 30, "BATCH": 4, "RATE": 0.01, "TOKENS": 48}.items():
        monkeypatch.setattr(example, name, value)
    rows = {task: row for task, *row in example.measured(str(write_profiled(tmp_path / "people")), str(encoder))}
    tests, learnt, frequent = rows["intent"]
    assert 0 < tests < 20
    assert learnt == rows["personality"][1] == 1 > frequent
    assert rows["spending_habits"] == [tests, 1, 1]  # which is the same of all
    assert len(rows) == 6
