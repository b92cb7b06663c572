"""The example of a fine-tuned encoder: a tiny one with random weights, made on the spot, learns signs of profile and intent."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.examples.rated import write_profiled

torch = pytest.importorskip("torch", reason="the extra readers is not installed")
transformers = pytest.importorskip("transformers", reason="the extra readers is not installed")
for extra in ("sklearn", "jieba"):
    pytest.importorskip(extra)


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """A BERT of one layer that reads characters."""
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
def test_an_encoder_learns_profiles_and_intents(tmp_path: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    monkeypatch.delitem(sys.modules, "bert_attributes", raising=False)
    example = import_module("bert_attributes")
    for name, value in {"EPOCHS": 30, "BATCH": 4, "RATE": 0.01, "TOKENS": 48}.items():
        monkeypatch.setattr(example, name, value)
    rows = {task: row for task, *row in example.measured(str(write_profiled(tmp_path / "people")), str(encoder))}
    tests, learnt, frequent = rows["intent"]
    assert 0 < tests < 20
    assert learnt == rows["personality"][1] == 1 > frequent
    assert rows["spending_habits"] == [tests, 1, 1]  # which is the same of all
    assert len(rows) == 6
