"""Bits of messages: what each thing that is known explains, at which messages, and the same numbers with a real model."""

import json
from math import log2
from types import SimpleNamespace
from typing import Any

import pytest

from duologue.analysis import bits
from duologue.analysis.bits import ANOTHER, HISTORY, NOTHING, OWN, SCENARIO, KeptCosts, Ledger, told
from duologue.analysis.language_model import Cost, Frame
from duologue.analysis.next_turn import Benchmark
from duologue.data import Conversation, Message

FRAME = Frame(head="< ", begins=" |me: ", answers=" |you: ", to_other=" |you: ", to_own=" |me: ")


class Model:
    """A model to which each character is a token; a word that it was told before costs nothing, any other 8 bits."""

    name, context, has_template, digest, frame = "words", 10_000, True, "words", FRAME

    def __init__(self) -> None:
        self.asked = 0

    def tokens(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def one_thread(self) -> Any:
        from contextlib import nullcontext

        return nullcontext()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    one = Model()

    def of(before: list[int], messages: list[list[int]]) -> list[Cost]:
        one.asked += len(messages)
        known = "".join(map(chr, before)).replace("\n", " ").split(" ")
        return [
            Cost(8.0 * sum(word not in known for word in "".join(map(chr, ids)).split()), 1.0, 2.0) for ids in messages
        ]

    monkeypatch.setattr(bits, "Costs", lambda _: SimpleNamespace(of=of))
    return one


def talk(number: int, *texts: str, user: str = "") -> Conversation:
    said = tuple(Message(role=("user", "assistant")[place % 2], text=text) for place, text in enumerate(texts))
    extra = {"user": user or f"person {number}"}
    return Conversation(id=f"t{number}", scenario={"goal": "a red boat"}, messages=said, extra=extra, stop="max_turns")


TALKS = [talk(n, "a boat", f"which colour{n} ?", f"colour{n} red", "done") for n in range(7)]


def row(report: Any, known: str, source: str = "the person", unit: str = "a message") -> Any:
    return next(one for one in report.rows if (one.unit, one.source, one.known) == (unit, source, known))


def test_what_is_known_explains_the_words_that_it_has(model: Model) -> None:
    report = Ledger(model, Benchmark.of(TALKS).moments, TALKS).report()
    assert (row(report, NOTHING).messages, row(report, NOTHING).bits.value) == (14, 19.0)  # two words, first and end
    assert row(report, SCENARIO).bits.value == 3 + (0 + 8) / 2
    assert row(report, SCENARIO).explains.value == 12.0
    assert row(report, HISTORY).messages == 7  # only where something was said before
    assert row(report, HISTORY).explains.value == 8.0
    assert row(report, ANOTHER).explains.value == 0.0  # its colour is another one
    assert report.people == 7
    assert not [one for one in report.rows if one.known == OWN]  # nobody has two conversations
    assert [len(table.rows) for table in report.tables()] == [4] * 4
    assert row(report, SCENARIO, unit="a character").bits.value == pytest.approx((1 / 6 + 9 / 11) / 2)
    assert row(report, NOTHING, unit="a message's end").bits.value == 2.0


def test_a_simulated_user_is_asked_about_at_the_same_places(model: Model) -> None:
    moments = Benchmark.of(TALKS).moments
    deaf = {moment.key: "something else" for moment in moments if moment.turn}
    report = Ledger(model, moments, TALKS).report({"deaf": deaf})
    assert row(report, HISTORY, "deaf").messages == 7
    assert row(report, HISTORY, "deaf").explains.value == 0.0


def test_earlier_messages_are_those_of_the_same_person(model: Model) -> None:
    twice = [
        *TALKS,
        talk(9, "my zebra", "yes ?", "zebra", "done", user="person 1"),
        talk(10, "a zebra", "?", user="person 8"),
    ]
    report = Ledger(model, Benchmark.of(twice).moments, twice).report()
    assert row(report, OWN).messages == 4  # two conversations of one person


def test_a_second_call_asks_nothing_and_a_torn_line_is_asked_again(model: Model, tmp_path: Any) -> None:
    moments, file = Benchmark.of(TALKS).moments, tmp_path / "bits.jsonl"
    first = Ledger(model, moments, TALKS, kept=KeptCosts(file)).report()
    asked = model.asked
    assert Ledger(model, moments, TALKS, kept=KeptCosts(file)).report() == first
    assert model.asked == asked
    file.write_text(file.read_text()[:-4])
    assert Ledger(model, moments, TALKS, kept=KeptCosts(file)).report() == first
    assert model.asked == asked + 1


def test_what_does_not_fit_is_left_out_and_counted(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Model, "context", 40)
    report = Ledger(model, Benchmark.of(TALKS).moments, TALKS).report()
    assert any("left out" in note for note in report.notes)


def test_a_user_is_told_its_scenario_and_not_the_section_nor_the_message_itself() -> None:
    topic = {
        "kind": "simquac",
        "title": "Apollo 11",
        "header": "Launch",
        "background": "A flight.",
        "section": "Secret.",
    }
    assert told(Conversation(id="a", scenario=topic, messages=())) == "Apollo 11\nLaunch\nA flight."
    plain = {"goal": "a seat", "facts": ["code Q1"], "first_message": "Hello!", "success": {"text_contains": "done"}}
    assert "code Q1" in told(Conversation(id="b", scenario=plain, messages=()))
    assert not {"Hello", "done"} & set(
        told(Conversation(id="b", scenario=plain, messages=())).replace("!", " ").split()
    )


@pytest.fixture
def folder(tmp_path: Any) -> Any:
    """A random model of two layers, whose tokens are bytes, in a folder of transformers."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = {letter: place for place, letter in enumerate(["<s>", *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    plain = Tokenizer(models.BPE(vocab=letters, merges=[]))
    plain.pre_tokenizer, plain.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, bos_token="<s>")
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.LlamaConfig(vocab_size=len(letters), max_position_embeddings=512, **sizes)
    transformers.LlamaForCausalLM(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    return tmp_path


@pytest.mark.heavy
@pytest.mark.parametrize("template", [None, "{% for m in messages %}[{{ m.role }}]{{ m.content }}</s>{% endfor %}"])
def test_costs_are_those_of_one_pass_over_all_tokens(folder: Any, template: str | None) -> None:
    import torch

    from duologue.analysis.language_model import Costs, LanguageModel

    if template is not None:
        settings = json.loads((folder / "tokenizer_config.json").read_text())
        (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "chat_template": template}))
    model = LanguageModel(folder)
    assert model.frame.to_own.startswith("</s>" if template else "\n")
    assert model.has_template is (template is not None)
    costs = Costs(model)
    start = model.tokens(model.frame.head + "A boat." + model.frame.begins)
    longer = [*start, *model.tokens("red" + model.frame.to_other + "which?" + model.frame.to_own)]
    asked = [
        (start, ["red", "a blue one"]),
        (longer, ["this"]),
        (longer, ["that one", "the other", "it"]),
        (start, ["red"]),
    ]
    for before, texts in asked:
        for text, cost in zip(texts, costs.of(before, [model.tokens(text) for text in texts]), strict=True):
            ids = [*before, *model.tokens(text), model.tokens(model.frame.to_other)[0]]
            chances = model.model(torch.tensor([ids])).logits[0, :-1].detach().softmax(-1)
            whole = [-log2(float(chances[place - 1, ids[place]])) for place in range(len(before), len(ids))]
            assert cost == pytest.approx((sum(whole[1:-1]), whole[0], whole[-1]), abs=1e-3)


@pytest.mark.heavy
def test_bits_are_counted_by_the_command_and_the_function(folder: Any, tmp_path: Any) -> None:
    import duologue

    source = tmp_path / "people.jsonl"
    lines = [{"user": one.extra["user"], "goal": "a boat", "messages":
              [{"role": message.role, "content": message.text} for message in one.messages]} for one in TALKS]  # fmt: skip
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = duologue.next_turn(str(source), bits=str(folder), baseline=False)
    assert report.bits is not None
    assert {one.known for one in report.bits.rows} == {NOTHING, SCENARIO, HISTORY, ANOTHER}
    with pytest.raises(duologue.errors.ModelError, match="transformers reads no model"):
        duologue.next_turn(str(source), bits=str(tmp_path / "away"), baseline=False)
