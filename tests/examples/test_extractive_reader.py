"""The example of an extractive reader: a tiny random model, made on the spot, answers with slices of the section."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from duologue.data.simquac import ReadingQuestion

torch = pytest.importorskip("torch", reason="the extra readers is not installed")
transformers = pytest.importorskip("transformers", reason="the extra readers is not installed")
SECTION = "three keepers lived there and the last keeper left in 1968 and a ship sank near the light in 1970 " * 6


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_a_model_answers_with_a_slice_of_the_section_or_with_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "who", *dict.fromkeys(SECTION.split())]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(words), max_position_embeddings=66, **sizes)
    transformers.BertForQuestionAnswering(config).save_pretrained(tmp_path)
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    monkeypatch.delitem(sys.modules, "extractive_reader", raising=False)
    read = import_module("extractive_reader").extractive(str(tmp_path))
    about = {"title": "Light", "header": "", "background": "", "section": SECTION, "references": ("x",)}
    questions = [ReadingQuestion(id="a/0", conversation="a", text=text, **about) for text in ("who left", "who " * 200)]
    answers = read(questions)
    assert all(answer is None or answer in SECTION for answer in answers)
    assert read(questions) == answers
