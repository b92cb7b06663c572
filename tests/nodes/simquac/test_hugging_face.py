"""Readers of Hugging Face: tiny random models made on the spot."""

import pytest

from duologue.data.grounding import MARKER
from duologue.data.simquac import ReadingQuestion
from duologue.errors import ModelError
from duologue.nodes.simquac.hugging_face import HuggingFaceReader

SECTION = "Three keepers lived there. The last keeper left in 1968. A ship sank near the light in 1970. " * 6
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[EOS]"]


def question(text="Who left?", **more):
    fields = {"title": "Light", "header": "", "background": "", "section": SECTION, "references": ("x",)}
    return ReadingQuestion(id="a/0", conversation="a", text=text, **fields | more)


def fast(model, **more):
    """A fast tokenizer of 64 tokens a window."""
    transformers = pytest.importorskip("transformers")
    named = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "model_max_length": 64}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, **named, **more)


@pytest.fixture
def tokenizer():
    """Whole words, lower-cased and without accents; each Chinese sign is a token."""
    pytest.importorskip("torch")
    tokenizers = pytest.importorskip("tokenizers")
    texts = (SECTION.replace(".", " .").lower(), "who left ? when", " ".join(f"w{number}" for number in range(200)))
    words = [*SPECIAL, *(word for text in texts for word in text.split()), *"灯塔看守人一九六八年😀éa"]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(words))}
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    model.normalizer = tokenizers.normalizers.BertNormalizer(strip_accents=True)
    model.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    model.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return fast(model, unk_token="[UNK]", eos_token="[EOS]")


def loaded(tokenizer, model, folder):
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return HuggingFaceReader.of(f"hf:{folder}")


SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


@pytest.fixture
def extractive(tokenizer, tmp_path):
    """A random BERT with one layer."""
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=66, **SMALL)
    return loaded(tokenizer, transformers.BertForQuestionAnswering(config), tmp_path)


class Marking:
    """Gives a score to tokens as the first and the last of a span, and 0 to all others."""

    def __init__(self, reader, *tokens):
        self.config, self.ids, self.windows = reader.model.config, reader.tokenizer.convert_tokens_to_ids(tokens), 0
        reader.model = self

    def __call__(self, **windows):
        self.windows = len(windows["input_ids"])
        start, end = ((windows["input_ids"] == token_id).float() * 9 for token_id in self.ids)
        return type("Output", (), {"start_logits": start, "end_logits": end})


@pytest.mark.heavy
def test_an_extractive_model_answers_with_a_slice_of_the_section_or_with_nothing(extractive):
    questions = [question(), question("When?"), question("Who? " * 200, earlier=(("When?", "in 1968"),))]
    answers = extractive(questions)
    assert all(answer is None or answer in SECTION for answer in answers)
    assert extractive(questions) == answers
    Marking(extractive, "[CLS]", "[CLS]")  # stands for nothing
    assert extractive([question(), question(section="")]) == [None, None]


@pytest.mark.heavy
def test_a_span_is_found_wherever_it_stands_also_where_windows_meet(extractive):
    words = [f"w{number}" for number in range(200)]
    for begin in range(0, 190, 7):
        marking = Marking(extractive, words[begin], words[begin + 9])
        assert extractive([question("Who?", section=" ".join(words))]) == [" ".join(words[begin : begin + 10])]
        assert marking.windows > 3


@pytest.mark.heavy
@pytest.mark.parametrize("before", ["", "é😀 W7, ", "一九六八年😀。" * 40, "a W7 é " * 60])
def test_offsets_are_those_of_the_section_whatever_the_tokenizer_makes_of_its_signs(extractive, before):
    Marking(extractive, "塔", "人")
    for asked in ("Who?", "谁在那里？" * 50):
        assert extractive([question(asked, section=f"{before}灯塔看守人 é w1")]) == ["塔看守人"]


@pytest.mark.heavy
def test_a_piece_of_the_marker_is_no_answer_and_no_span_reaches_into_it(extractive):
    tokenizers = pytest.importorskip("tokenizers")
    byte_level = tokenizers.ByteLevelBPETokenizer(add_prefix_space=False)
    byte_level.train_from_iterator(["the light the keeper"], vocab_size=300, special_tokens=["[PAD]", "[CLS]", "[SEP]"])
    byte_level.post_processor = tokenizers.processors.RobertaProcessing(("[SEP]", 2), ("[CLS]", 1))
    reader = HuggingFaceReader("x", extractive.model, fast(byte_level._tokenizer), marker=True)
    assert "S" in MARKER
    Marking(reader, "S", "S")
    assert reader([question(section="the light z 😀")]) == [None]
    Marking(reader, "z", "S")  # from the section into the marker: there is no such span
    (answer,) = reader([question(section="the light z 😀")])
    assert answer is None or "CANN" not in answer
    Marking(reader, "z", "z")
    assert [answer.strip() for answer in reader([question(section="the light 😀 z 😀")])] == ["z"]


@pytest.mark.heavy
def test_what_is_no_model_that_answers_is_one_line(extractive, tokenizer, tmp_path):
    transformers = pytest.importorskip("transformers")
    encoder = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=len(tokenizer), **SMALL))
    with pytest.raises(ModelError, match="it was not trained to answer: BertForMaskedLM"):
        loaded(tokenizer, encoder, tmp_path / "encoder")
    with pytest.raises(ModelError, match="cannot be loaded"):
        HuggingFaceReader.of(f"hf:{tmp_path / 'no/such/folder'}")
    extractive.tokenizer.add_tokens(["zebra"])
    with pytest.raises(ModelError, match=r"failed at question a/0 .*do model and tokenizer fit\?"):
        extractive([question("zebra")])
