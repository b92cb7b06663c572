"""Readers of Hugging Face: tiny random models made on the spot."""

import pytest

from duologue.data.grounding import MARKER
from duologue.data.simquac import ReadingQuestion
from duologue.errors import MissingExtraError, ModelError
from duologue.nodes.simquac.hugging_face import HuggingFaceReader

SECTION = "Three keepers lived there. The last keeper left in 1968. A ship sank near the light in 1970. " * 6


def question(text="Who left?", **more):
    fields = {"title": "Light", "header": "", "background": "", "section": SECTION, "references": ("x",)}
    return ReadingQuestion(id="a/0", conversation="a", text=text, **fields | more)


def test_the_extra_of_a_missing_package_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"duologue\[readers\]"):
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
    word_level = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    word_level.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    word_level.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=word_level, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
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
    questions = [question(), question("When?"), question("Who? " * 200, earlier=(("When?", "in 1968"),))]
    answers = reader(questions)
    assert len(answers) == 3
    assert all(answer is None or answer in SECTION for answer in answers)
    assert reader(questions) == answers


@pytest.mark.heavy
def test_the_span_is_the_one_with_the_highest_logits_over_all_windows(extractive):
    reader = HuggingFaceReader.of(extractive)
    year = reader.tokenizer.convert_tokens_to_ids("1970")

    class Fixed:
        config = reader.model.config
        score = 9.0

        def __call__(self, **windows):
            logits = (windows["input_ids"] == year).float()
            return type("Output", (), {"start_logits": logits * self.score, "end_logits": logits * self.score})

    reader.model = Fixed()
    assert reader([question()]) == ["1970"]
    reader.model.score = -9.0  # any other span has 0, as the first token has, which stands for nothing
    assert reader([question()])[0] != "1970"
    marked = HuggingFaceReader(reader.path, "extractive", reader.model, reader.tokenizer, marker=True)
    marked.model.score = 9.0
    year = reader.tokenizer.convert_tokens_to_ids(MARKER)
    assert marked([question()]) == [None]


class Marking:
    """Gives a score to tokens as the first and the last of a span, and 0 to all others."""

    def __init__(self, reader, first, last, score=9.0):
        self.config, self.ids, self.score, self.windows = reader.model.config, (first, last), score, 0
        reader.model = self

    def __call__(self, **windows):
        ids = windows["input_ids"]
        self.windows = len(ids)
        start, end = ((ids == token_id).float() * self.score for token_id in self.ids)
        return type("Output", (), {"start_logits": start, "end_logits": end})


@pytest.fixture
def signs(extractive):
    """The extractive model with a tokenizer that makes a token of each sign, lower-cased and without accents."""
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{number}" for number in range(200)), *"灯塔看守人一九六八年😀éa"]
    word_level = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: n for n, word in enumerate(dict.fromkeys(words))}, unk_token="[UNK]")
    )
    word_level.normalizer = tokenizers.normalizers.BertNormalizer(strip_accents=True)
    word_level.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    word_level.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    reader = HuggingFaceReader.of(extractive)
    reader.tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=word_level, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=64,
    )  # fmt: skip
    return reader


@pytest.mark.heavy
def test_a_span_is_found_wherever_it_stands_also_where_windows_meet(signs):
    words = [f"w{number}" for number in range(200)]
    section = " ".join(words)
    for begin in range(0, 190, 7):
        first, last = (signs.tokenizer.convert_tokens_to_ids(words[number]) for number in (begin, begin + 9))
        marking = Marking(signs, first, last)
        assert signs([question("Who?", section=section)]) == [" ".join(words[begin : begin + 10])]
        assert marking.windows > 3


@pytest.mark.heavy
@pytest.mark.parametrize("before", ["", "é😀 W7, ", "一九六八年😀。" * 40, "a W7 é " * 60])
def test_offsets_are_those_of_the_section_whatever_the_tokenizer_makes_of_its_signs(signs, before):
    section = f"{before}灯塔看守人 é w1"
    first, last = (signs.tokenizer.convert_tokens_to_ids(sign) for sign in ("塔", "人"))
    Marking(signs, first, last)
    assert signs([question("Who?", section=section)]) == ["塔看守人"]
    assert signs([question("谁在那里？" * 50, section=section)]) == ["塔看守人"]


@pytest.mark.heavy
def test_what_stands_for_nothing_is_the_token_of_the_class_on_whichever_side_windows_are_filled(signs):
    section = " ".join(f"w{number}" for number in range(100))
    nothing = signs.tokenizer.cls_token_id
    for side in ("right", "left"):
        signs.tokenizer.padding_side = side
        Marking(signs, nothing, nothing)
        assert signs([question("Who?", section=section)]) == [None]
        Marking(signs, signs.tokenizer.pad_token_id, signs.tokenizer.pad_token_id)
        assert signs([question("Who?", section=section)])[0] is not None
    assert signs([question("Who?", section="")]) == [None]


@pytest.mark.heavy
def test_a_piece_of_the_marker_is_no_answer_and_no_span_reaches_into_it(extractive):
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    byte_level = tokenizers.ByteLevelBPETokenizer(add_prefix_space=False)
    byte_level.train_from_iterator(["the light the keeper"], vocab_size=300, special_tokens=["[PAD]", "[CLS]", "[SEP]"])
    byte_level.post_processor = tokenizers.processors.RobertaProcessing(("[SEP]", 2), ("[CLS]", 1))
    reader = HuggingFaceReader.of(extractive, marker=True)
    reader.tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_level._tokenizer,
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    )
    piece, sign = (reader.tokenizer.convert_tokens_to_ids(text) for text in ("S", "z"))
    Marking(reader, piece, piece)
    assert reader([question(section="the light z 😀")]) == [None]
    Marking(reader, sign, piece)  # from the section into the marker: there is no such span
    (answer,) = reader([question(section="the light z 😀")])
    assert answer is None or "CANN" not in answer
    Marking(reader, sign, sign)
    assert [answer.strip() for answer in reader([question(section="the light 😀 z 😀")])] == ["z"]


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
def test_of_a_section_that_is_too_long_the_end_is_left_out_and_page_and_question_stay(tokenizer, tmp_path):
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(
        n_embd=16, n_layer=1, n_head=2, n_positions=700, vocab_size=len(tokenizer), pad_token_id=0, eos_token_id=4
    )
    reader = HuggingFaceReader.of(saved(tokenizer, transformers.GPT2LMHeadModel(config), tmp_path / "causal"))
    sent = []
    real = reader.model.generate

    def spied(**arguments):
        sent.append(arguments["input_ids"])
        return real(**arguments)

    reader.model.generate = spied
    reader([question("when Who left ?"), question("when Who left ?", section=SECTION * 20)])
    short, long = (tokenizer.decode(token_ids[0]) for token_ids in sent)
    assert len(sent[0][0]) < len(sent[1][0]) <= 700 - 60
    assert short[:200] == long[:200]
    assert short[-40:] == long[-40:]
    assert "when Who left" in long[-40:]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "cannot be loaded"),
        ("no_such", "there is no such folder"),
        ("encoder", "is an encoder that was not trained to answer"),
    ],
)
def test_what_is_no_model_that_answers_is_one_line(tokenizer, tmp_path, name, words):
    transformers = pytest.importorskip("transformers")
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=len(tokenizer), **small))
    saved(tokenizer, model, tmp_path / "encoder")
    with pytest.raises(ModelError, match=words) as caught:
        HuggingFaceReader.of(f"hf:{tmp_path / name}")
    assert "\n" not in str(caught.value)
    with pytest.raises(ModelError, match="names no model"):
        HuggingFaceReader.of("hf: ")


@pytest.mark.heavy
def test_a_tokenizer_that_is_not_the_models_is_one_line(extractive, tokenizer):
    reader = HuggingFaceReader.of(extractive)
    reader.tokenizer.add_tokens(["zebra"])
    with pytest.raises(ModelError, match=r"failed at question a/0 .*do model and tokenizer fit\?") as caught:
        reader([question("zebra")])
    assert "\n" not in str(caught.value)
