"""Bits of messages: what each thing that is known explains, at which messages, and the same numbers with a real model."""

import json
from math import log2
from types import SimpleNamespace
from typing import Any

import pytest

from duologue.analysis import bits
from duologue.analysis.bits import ANOTHER, HISTORY, NOTHING, OWN, PERSON, SCENARIO, bits_of, told
from duologue.analysis.language_model import Cost, Frame
from duologue.analysis.next_turn import Benchmark
from duologue.data import Conversation, Message

FRAME = Frame(head="< ", begins=" |me: ", to_other=" |you: ", to_own=" |me: ")


class Model:
    """A model to which each character is a token; a word that it was told before costs nothing, any other 8 bits."""

    name, context, digest, frame = "words", 10_000, "words", FRAME
    torch = SimpleNamespace(get_num_threads=lambda: 1, set_num_threads=lambda number: None)

    def __init__(self) -> None:
        self.asked = 0

    def tokens(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    one = Model()

    def of(before: list[int], message: list[int]) -> Cost:
        one.asked += 1
        known = "".join(map(chr, before)).replace("\n", " ").split(" ")
        return Cost(8.0 * sum(word not in known for word in "".join(map(chr, message)).split()), 1.0, 2.0)

    monkeypatch.setattr(bits, "Costs", lambda _: SimpleNamespace(of=of))
    return one


def talk(number: int, *texts: str, user: str = "") -> Conversation:
    said = tuple(Message(role=("user", "assistant")[place % 2], text=text) for place, text in enumerate(texts))
    extra = {"user": user or f"person {number}"}
    return Conversation(id=f"t{number}", scenario={"goal": "a red boat"}, messages=said, extra=extra, stop="max_turns")


TALKS = [talk(n, "a boat", f"which colour{n} ?", f"colour{n} red", "done") for n in range(7)]


def counted(model: Any, talks: list[Conversation], said: dict[str, Any] | None = None, file: Any = None) -> Any:
    """The tables of these people, and of simulated users."""
    return bits_of(model, Benchmark.of(talks).moments, talks, said or {}, file=file)


def row(tables: Any, known: str, source: str = PERSON, unit: str = "a message") -> Any:
    return next(one for one in tables[f"bits of {unit}"].objects() if (one["of"], one["known"]) == (source, known))


def test_what_is_known_explains_the_words_that_it_has(model: Model) -> None:
    tables = counted(model, TALKS)
    assert (row(tables, NOTHING)["n"], row(tables, NOTHING)["bits"]) == (14, 19.0)  # two words, first and end
    assert row(tables, SCENARIO)["bits"] == 3 + (0 + 8) / 2
    assert row(tables, SCENARIO)["explains"] == 12.0
    assert row(tables, HISTORY)["n"] == 7  # only where something was said before
    assert row(tables, HISTORY)["explains"] == 8.0
    assert row(tables, ANOTHER)["explains"] == 0.0  # its colour is another one
    assert [len(table.rows) for table in tables.values()] == [4] * 4  # nobody has two conversations
    assert row(tables, SCENARIO, unit="a character")["bits"] == pytest.approx((1 / 6 + 9 / 11) / 2)
    assert row(tables, NOTHING, unit="a message's end")["bits"] == 2.0


def test_a_simulated_user_is_asked_about_at_the_same_places(model: Model) -> None:
    deaf = {moment.key: "something else" for moment in Benchmark.of(TALKS).moments if moment.turn}
    found = row(counted(model, TALKS, {"deaf": deaf}), HISTORY, "deaf")
    assert (found["n"], found["explains"]) == (7, 0.0)


def test_earlier_messages_are_those_of_the_same_person(model: Model) -> None:
    again = talk(9, "my zebra", "yes ?", "zebra", "done", user="person 1")
    tables = counted(model, [*TALKS, again, talk(10, "a zebra", "?", user="person 8")])
    assert row(tables, OWN)["n"] == 4  # two conversations of one person


def test_a_second_call_asks_nothing_and_a_torn_line_is_asked_again(model: Model, tmp_path: Any) -> None:
    file = tmp_path / "bits.jsonl"
    first, asked = counted(model, TALKS, file=file), model.asked
    assert counted(model, TALKS, file=file) == first
    assert model.asked == asked
    file.write_text(file.read_text()[:-4])
    assert counted(model, TALKS, file=file) == first
    assert model.asked == asked + 1


def test_what_does_not_fit_is_left_out_and_counted(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Model, "context", 40)
    assert any("left out" in note for note in counted(model, TALKS)["bits of a message"].notes)


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
        for text in texts:
            cost = costs.of(before, model.tokens(text))
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
    assert {row["known"] for row in report.table("bits of a message").objects()} == {
        NOTHING,
        SCENARIO,
        HISTORY,
        ANOTHER,
    }
    with pytest.raises(duologue.errors.ModelError, match="transformers reads no model"):
        duologue.next_turn(str(source), bits=str(tmp_path / "away"), baseline=False)
