"""Readers of Hugging Face: tiny random models made on the spot."""

import pytest

from duologue.data.grounding import MARKER
from duologue.data.simquac import Question
from duologue.errors import MissingExtraError, ModelError
from duologue.nodes.models.hugging_face import HuggingFaceReader

SECTION = "Three keepers lived there. The last keeper left in 1968. A ship sank near the light in 1970. " * 6


def question(text="Who left?", **more):
    given = {"title": "Light", "header": "", "background": "", "section": SECTION, "references": ("x",)}
    return Question(id="a/0", conversation="a", text=text, **given, **more)


def test_the_extra_of_a_missing_package_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"duologue\[torch\]"):
        HuggingFaceReader.of("hf:/nowhere")


@pytest.fixture
def tokenizer():
    """A fast tokenizer of whole words."""
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[EOS]"]
    words = sorted({word for text in (SECTION, "Who left ? when", MARKER) for word in text.replace(".", " .").split()})
    vocabulary = {word: number for number, word in enumerate([*special, *words])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        eos_token="[EOS]", model_max_length=64,
    )  # fmt: skip


def saved(tokenizer, model, folder):
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def extractive(tokenizer, tmp_path):
    """A random BERT with one layer."""
    transformers = pytest.importorskip("transformers")

    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=66,
    )  # fmt: skip
    return saved(tokenizer, transformers.BertForQuestionAnswering(config), tmp_path / "extractive")


@pytest.mark.heavy
def test_an_extractive_model_answers_with_a_slice_of_the_section_or_with_nothing(extractive):
    reader = HuggingFaceReader.of(f"hf:{extractive}")
    assert reader.kind == "extractive"
    asked = [question(), question("When?"), question("Who? " * 200, earlier=(("When?", "in 1968"),))]
    answers = reader(asked)
    assert len(answers) == 3
    assert all(answer is None or answer in SECTION for answer in answers)
    assert reader(asked) == answers


@pytest.mark.heavy
def test_the_span_is_the_one_with_the_highest_logits_over_all_windows(extractive):
    reader = HuggingFaceReader.of(extractive)
    year = reader.tokenizer.convert_tokens_to_ids("1970")

    class Fixed:
        config = reader.model.config
        score = 9.0

        def __call__(self, **windows):
            found = (windows["input_ids"] == year).float()
            return type("Output", (), {"start_logits": found * self.score, "end_logits": found * self.score})

    reader.model = Fixed()
    assert reader([question()]) == ["1970"]
    reader.model.score = -9.0  # any other span has 0, as the first token has, which stands for nothing
    assert reader([question()])[0] != "1970"
    marked = HuggingFaceReader(reader.path, "extractive", reader.model, reader.tokenizer, marker=True)
    marked.model.score = 9.0
    year = reader.tokenizer.convert_tokens_to_ids(MARKER)
    assert marked([question()]) == [None]


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["seq2seq", "causal"])
def test_a_generative_model_writes_an_answer(tokenizer, tmp_path, kind):
    transformers = pytest.importorskip("transformers")

    small = {"vocab_size": len(tokenizer), "pad_token_id": 0, "eos_token_id": 4}
    if kind == "causal":
        config = transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2, n_positions=256, bos_token_id=4, **small)
        model = transformers.GPT2LMHeadModel(config)
    else:
        config = transformers.T5Config(
            d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0, **small
        )
        model = transformers.T5ForConditionalGeneration(config)
    reader = HuggingFaceReader.of(saved(tokenizer, model, tmp_path / kind))
    assert reader.kind == kind
    answers = reader([question(), question(earlier=(("When?", "in 1968"),))])
    assert all(answer is None or isinstance(answer, str) for answer in answers)
    assert answers == reader([question(), question(earlier=(("When?", "in 1968"),))])


@pytest.mark.heavy
def test_a_folder_without_a_model_is_named(tokenizer, tmp_path):
    with pytest.raises(ModelError, match="cannot be loaded"):
        HuggingFaceReader.of(tmp_path)
