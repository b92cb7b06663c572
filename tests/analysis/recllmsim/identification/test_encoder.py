"""An encoder of Transformers, fine-tuned: a tiny one, made on the spot."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

import numpy as np

from duologue.analysis.recllmsim.identification import encoder
from duologue.errors import MissingExtraError, SettingError


def test_an_encoder_without_its_extra_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"duologue\[readers\]"):
        encoder("somewhere")


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_a_tiny_random_encoder_learns_a_word_that_tells_the_label(tmp_path: Path, crowd):
    pytest.importorskip("torch", reason="the extra readers is not installed")
    transformers = pytest.importorskip("transformers", reason="the extra readers is not installed")
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "well",
        "now",
        "lake",
        "river",
        "clown",
        "circus",
        "certainly",
    ]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    transformers.BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    talks = crowd("sign")
    texts, calm = [talk.text for talk in talks], [talk.labels["personality"] == ("Calm",) for talk in talks]
    truth = np.array([calm, [not is_calm for is_calm in calm]]).T
    model = encoder(tmp_path, length=32, epochs=20, rate=0.01)
    scores = model.classify(texts[:48], truth[:48], texts[48:], 0)
    assert ((scores > 0.5) == truth[48:]).mean() >= 0.95
    assert (model.classify(texts[:48], truth[:48], texts[48:], 0) == scores).all()
    with pytest.raises(SettingError, match="cannot be read"):
        encoder(tmp_path / "nothing").classify(texts, truth, texts, 0)
