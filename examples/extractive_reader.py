"""Score a reading-comprehension model of Hugging Face as a baseline of SimQuAC's teacher.

    pip install "duologue[stats,readers]"
    python extractive_reader.py MODEL quac.json [MORE.json ...]

MODEL is a folder or a name on the hub, of an architecture for question answering: it marks a span of the section, or says
with its first token that there is no answer, as for SQuAD 2.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import torch
import transformers

from duologue import data
from duologue.analysis.simquac import readers
from duologue.data.simquac import ReadingQuestion

WINDOW, STRIDE, ANSWER = 384, 128, 60  # tokens of a window over a section, of what two share, and of an answer


def extractive(name: str) -> Any:
    """The reader of a model: a function from questions to answers, None for a refusal."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(name).eval()

    def spans(question: ReadingQuestion) -> Iterator[tuple[float, str]]:
        """The best span of each window with its score, and after them "nothing" with its own."""
        most = min(WINDOW, int(tokenizer.model_max_length), model.config.max_position_embeddings - 2)
        asked = " ".join([*(words for pair in question.earlier for words in pair), question.text])
        while len(tokenizer(asked, add_special_tokens=False, verbose=False)["input_ids"]) > most // 2:
            asked = asked[max(1, len(asked) // 8) :]  # the latest words stay
        windows = tokenizer(
            asked, question.section, truncation="only_second", max_length=most, stride=min(STRIDE, most // 4),
            padding=True, return_overflowing_tokens=True, return_offsets_mapping=True, return_tensors="pt",
        )  # fmt: skip
        offsets = windows.pop("offset_mapping").tolist()
        windows.pop("overflow_to_sample_mapping")
        output, nothing = model(**windows), float("inf")
        for window, places in enumerate(offsets):
            starts, ends = output.start_logits[window], output.end_logits[window]
            nothing = min(nothing, float(starts[0] + ends[0]))
            inside = torch.tensor([side == 1 for side in windows.sequence_ids(window)])
            pairs = (inside[:, None] & inside).triu().tril(ANSWER - 1)  # rows begin, columns end
            scores = (starts[:, None] + ends).masked_fill(~pairs, float("-inf"))
            start, end = divmod(int(scores.argmax()), len(places))
            yield float(scores.max()), question.section[places[start][0] : places[end][1]]
        yield nothing, ""

    @torch.inference_mode()
    def read(questions: Sequence[ReadingQuestion]) -> list[str | None]:
        return [max(spans(question))[1].strip() or None for question in questions]

    return read


if __name__ == "__main__":
    name, *files = sys.argv[1:]
    sets = {file: data.simquac.questions_of(data.load(file)) for file in files}
    print(readers.readers_table(readers.read({name: extractive(name)}, sets)).to_markdown())
