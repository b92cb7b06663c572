"""Predict users' profiles and intents with an encoder, fine-tuned as in "When Synthetic Meets Real".

    pip install "duologue[stats,zh,readers]"
    python bert_attributes.py RECLLMSIM/real_human_user [bert-base-chinese]

Users are held out: a model learns from one split of the users, and is tested on the other. Beside its hit@1, the share of
tests whose likeliest option is true, stands that of the most frequent option. The second argument is a folder or a name.
"""

import sys
from collections.abc import Collection, Iterator, Sequence

import torch
import transformers

import duologue
from duologue.analysis.recllmsim.prediction import VOCABULARY, profile_talks
from duologue.data.people import of_part
from duologue.data.records import value_of

EPOCHS, BATCH, RATE, TOKENS = 10, 16, 2e-5, 512
Items = Sequence[tuple[str, Collection[str]]]  # texts, and the true options of each


def scores(train: Items, labels: torch.Tensor, test: Items, name: str) -> torch.Tensor:
    """Fine-tune an encoder on texts with their options as rows of 0 and 1; the scores of the options for others."""
    torch.manual_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    settings = {"num_labels": labels.shape[1], "problem_type": "multi_label_classification"}
    model = transformers.AutoModelForSequenceClassification.from_pretrained(name, **settings).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    steps = EPOCHS * -(-len(train) // BATCH)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=steps)
    cut = {"truncation": True, "max_length": TOKENS, "padding": True, "return_tensors": "pt"}
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(train)).split(BATCH):
            model(**tokenizer([train[row][0] for row in rows], **cut), labels=labels[rows]).loss.backward()
            optimizer.step(), falling.step(), optimizer.zero_grad()
    with torch.no_grad():
        return torch.cat([model.eval()(**tokenizer(text, **cut)).logits for text, _ in test])


def measured(source: str, name: str) -> Iterator[tuple[str, int, float, float]]:
    """The number of tests, hit@1 of the encoder and of the most frequent option, for each aspect and the intent."""
    halves = [[one for one in duologue.load(source) if of_part(one, part)] for part in ("tune", "test")]
    said = [[(one.text, value_of(one.labels, "intent")) for talk in half for one in talk.messages] for half in halves]
    tasks = {"intent": [[(text, of) for text, of in half if isinstance(of, list) and len(of) == 1] for half in said]}
    for key in VOCABULARY:
        talks = [[one for one in profile_talks(half)[0] if key in one.labels] for half in halves]
        tasks[key] = [[("\n".join(text for _, text in t.messages), t.labels[key]) for t in half] for half in talks]
    for task, (train, test) in ((task, parts) for task, parts in tasks.items() if all(parts)):
        options = sorted({option for _, true in train for option in true})
        labels = torch.tensor([[float(option in true) for option in options] for _, true in train])
        guesses = scores(train, labels, test, name).argmax(1), labels.sum(0).argmax().expand(len(test))
        hits = [sum(options[at] in of for at, (_, of) in zip(best, test, strict=True)) for best in guesses]
        yield task, len(test), hits[0] / len(test), hits[1] / len(test)


if __name__ == "__main__":
    for task, tests, encoder, frequent in measured(sys.argv[1], (*sys.argv[2:], "bert-base-chinese")[0]):
        print(f"{task}: {tests} tests, encoder {encoder:.3f}, most frequent option {frequent:.3f}")
