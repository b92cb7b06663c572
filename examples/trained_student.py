"""A student that is trained on people: a small model learns their questions, and plays the student of SimQuAC.

    pip install "duologue[stats,readers]"
    python trained_student.py train PEOPLE.json FOLDER [MODEL]   # MODEL: a GGUF file or a folder; default: SmolLM2-135M
    duologue next-turn PEOPLE.json --part test --bits FOLDER     # on sections that it has not seen
    python trained_student.py play PEOPLE.json FOLDER OUT        # conversations about these sections, a run folder

It learns from the half `tune` of the people, whose sections nobody of the half `test` has, what they asked and where they
ended their message: each question after the topic and the conversation before it. The folder holds the weights as
transformers reads them, of the pass after which the questions that were held back from training cost least. The same data
and seed give the same weights on the same machine.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

import duologue
from duologue import data, graphs
from duologue.analysis.bits import history, told
from duologue.analysis.language_model import LanguageModel
from duologue.data.identity import digest
from duologue.data.people import of_part, user_of
from duologue.nodes.models.openai import file_of

SEED, RATE, PASSES, TOGETHER = 0, 3e-5, 4, 4
HELD_BACK = 8
"""One in so many people tells after which pass to stop."""
LONGEST, NEW = 1024, 40
"""Tokens of a conversation that is learnt from, and of a question."""

Item = tuple[list[int], list[bool]]  # tokens, and which of them are the student's


def items(model: LanguageModel, talks: Sequence[duologue.Conversation]) -> Iterator[Item]:
    """Each conversation as tokens; learnt are the student's and the ends of its messages."""
    end = model.tokens(model.frame.to_other)[:1]
    for talk in talks:
        start = model.tokens(model.frame.head) + model.tokens(told(talk))
        ids, own = list(start), [False] * len(start)
        for place, message in enumerate(talk.messages):
            before = [*start, *(history(model, talk.messages[:place]) or model.tokens(model.frame.begins))]
            if message.role == "user" and before[: len(ids)] == ids:
                said = [*model.tokens(message.text), *end]
                own += [False] * (len(before) - len(ids)) + [True] * len(said)
                ids = [*before, *said]
        yield ids[:LONGEST], own[:LONGEST]


def loss(model: LanguageModel, item: Item) -> Any:
    """The sum of what the student's tokens cost, in nats."""
    ids, own = torch.tensor(item[0]), torch.tensor(item[1])
    logits = model.model(input_ids=ids[None], use_cache=False).logits[0, :-1]
    return torch.nn.functional.cross_entropy(logits[own[1:]], ids[1:][own[1:]], reduction="sum")


def trainable(path: Path) -> LanguageModel:
    """The model with weights that can be written: those of a GGUF file are read as they are, and never written."""
    model = LanguageModel(path)
    config = model.model.config
    if hasattr(config, "quantization_config"):
        weights = model.model.state_dict()
        del config.quantization_config
        model.model = transformers.AutoModelForCausalLM.from_config(config).eval()  # no dropout: the seed alone decides
        model.model.load_state_dict(weights)
    return model


def train(people: Sequence[duologue.Conversation], folder: Path, base: Path) -> None:
    """Fine-tune all weights, and write those of the best pass."""
    torch.manual_seed(SEED)
    model = trainable(base)
    tune = [one for one in people if of_part(one, "tune")]
    held = {user for user in map(user_of, tune) if int(digest("held back", user)[:8], 16) % HELD_BACK == 0}
    back = [*items(model, [one for one in tune if user_of(one) in held])]
    learnt = [*items(model, [one for one in tune if user_of(one) not in held])]
    optimizer = torch.optim.AdamW(model.model.parameters(), lr=RATE, weight_decay=0.01)

    def bits() -> float:
        with torch.inference_mode():
            cost = sum(float(loss(model, item)) for item in back)
        return cost / torch.log(torch.tensor(2.0)).item() / max(1, sum(sum(own) for _, own in back))

    best = bits()
    sys.stderr.write(f"{len(learnt)} conversations; before: {best:.3f} bits a token of those held back\n")
    model.model.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    for number in range(1, PASSES + 1):
        for rows in torch.randperm(len(learnt)).split(TOGETHER):
            count = sum(sum(learnt[row][1]) for row in rows)
            for row in rows:
                (loss(model, learnt[row]) / count).backward()
            torch.nn.utils.clip_grad_norm_(model.model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        found = bits()
        sys.stderr.write(f"pass {number}: {found:.3f} bits a token\n")
        if found >= best:
            break
        best = found
        model.model.save_pretrained(folder)


def student(folder: Path) -> Callable[[Any], str]:
    """The student as a node: it draws each word as likely as the model says, by a seed of the place and the attempt."""
    model = LanguageModel(folder)
    end = model.tokens(model.frame.to_other)[0]

    def asks(state: Any) -> str:
        sides = {"human": "user", "ai": "assistant"}
        said = [data.Message(role=sides[one.type], text=one.text) for one in state["messages"]]  # type: ignore[arg-type]
        talk = duologue.Conversation(id="", scenario=state["scenario"], messages=())
        start = [*model.tokens(model.frame.head), *model.tokens(told(talk))]
        ids = torch.tensor([[*start, *(history(model, said) or model.tokens(model.frame.begins))]])
        place = digest("student", state["scenario"], len(said), len(state["attempts"]), state.get("repeat", 0))
        torch.manual_seed(int(place[:8], 16))
        with torch.inference_mode():
            settings = {"do_sample": True, "top_k": 0, "max_new_tokens": NEW, "eos_token_id": end, "pad_token_id": end}
            found = model.model.generate(ids, attention_mask=torch.ones_like(ids), **settings)
        return str(model.tokenizer.decode(found[0, ids.shape[1] :], skip_special_tokens=True)).strip()

    return asks


if __name__ == "__main__":
    what, source, folder, *rest = sys.argv[1:]
    people = list(duologue.load(source))
    if what == "train":
        train(people, Path(folder), file_of(*rest or ("smollm2",)))
    else:
        cast = graphs.simquac.cast(user=student(Path(folder)))
        topics = [data.simquac.Topic.of(one) for one in people if of_part(one, "test")]
        scenarios = graphs.simquac.scenarios({topic.model_dump_json(): topic for topic in topics}.values())
        duologue.simulate(cast, scenarios, out=rest[0], concurrency=1)
