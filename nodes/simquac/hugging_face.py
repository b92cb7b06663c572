"""Reading-comprehension models of Hugging Face, which mark a span of the section.

Only `transformers` uses the network, to load a model; a path to a folder loads only from there. Needs the extra
`readers`. A language model is asked as any other assistant, by its provider or its server.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...data.grounding import MARKER, is_refusal
from ...data.simquac import ReadingQuestion
from ...errors import ModelError, of_extra

PREFIX = "hf:"
MOST_TOKENS = 384
"""Tokens of one window over a section, question included (as usual for SQuAD)."""
STRIDE = 128
"""Tokens by which windows overlap."""
ANSWER_TOKENS = 60
"""Maximum tokens of an answer: QuAC's have at most 30 words."""


@dataclass
class HuggingFaceReader:
    """Answers questions with a model from a folder, or from the hub by its name, one at a time."""

    path: str
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    marker: bool = False
    """Whether the word CANNOTANSWER follows the section, as in the training of QuAC's own readers; else a model may
    answer "nothing" with its first token, as for SQuAD 2."""

    @classmethod
    def of(cls, path: str | Path, *, marker: bool = False) -> "HuggingFaceReader":
        """Load a model, onto the graphics card if torch detects one; ModelError if that fails."""
        transformers, torch = of_extra("transformers", "readers"), of_extra("torch", "readers")
        name = str(path).removeprefix(PREFIX).strip()
        if not name:
            raise ModelError(f"{PREFIX}: names no model: give a model's folder or its name on the hub")
        local = Path(name).expanduser().is_dir()
        name = str(Path(name).expanduser()) if local else name
        try:
            config = transformers.AutoConfig.from_pretrained(name, local_files_only=local)
            kinds = [str(one) for one in getattr(config, "architectures", None) or ["no architecture"]]
            if not any("ForQuestionAnswering" in one for one in kinds):
                raise ValueError(f"it was not trained to answer: {', '.join(kinds)}")
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, local_files_only=local)
            model = transformers.AutoModelForQuestionAnswering.from_pretrained(name, local_files_only=local)
        except (OSError, ValueError, KeyError, ImportError) as error:
            line = " ".join(str(error).split())[:200]
            remedy = "give a model for question answering, by its folder or its name on the hub"
            raise ModelError(f"{PREFIX}{name}: cannot be loaded ({line}): {remedy}") from None
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        if torch.cuda.is_available():
            model = model.to("cuda")
        return cls(name, model.eval(), tokenizer, marker)

    def __call__(self, questions: Sequence[ReadingQuestion]) -> list[str | None]:
        """The answer to each question, None for a refusal; ModelError if model and tokenizer do not fit."""
        answers: list[str | None] = []
        with of_extra("torch", "readers").inference_mode():
            for one in questions:
                try:
                    answer = self._span(one)
                except (RuntimeError, ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
                    line = " ".join(str(error).split())[:200] or type(error).__name__
                    where = f"{PREFIX}{self.path}: failed at question {one.id}"
                    raise ModelError(f"{where} ({line}): do model and tokenizer fit?") from error
                answers.append(None if not answer.strip() or is_refusal(answer) else answer)
        return answers

    def _span(self, question: ReadingQuestion) -> str:
        """The best span over all windows; empty if the first token, which stands for nothing, has a better score.

        With the marker a span may be the marker or in the section, and not across their border.
        """
        torch = of_extra("torch", "readers")
        section, border = question.section, len(question.section)
        if self.marker:
            section = f"{section} {MARKER}"
        most = max(16, min(MOST_TOKENS, int(self.tokenizer.model_max_length), self._room()))
        asked = " ".join([*(words for pair in question.earlier for words in pair), question.text])
        while len(self.tokenizer(asked, add_special_tokens=False, verbose=False)["input_ids"]) > most // 2:
            asked = asked[max(1, len(asked) // 8) :]  # the latest words stay
        windows = self.tokenizer(
            asked, section, truncation="only_second", max_length=most, stride=min(STRIDE, most // 4), padding=True,
            return_overflowing_tokens=True, return_offsets_mapping=True, return_tensors="pt",
        )  # fmt: skip
        offsets = windows.pop("offset_mapping").tolist()
        windows.pop("overflow_to_sample_mapping", None)
        placed = {key: value.to(getattr(self.model, "device", "cpu")) for key, value in windows.items()}
        output = self.model(**placed)
        best, answer, nothing = float("-inf"), "", float("inf")
        for window, places in enumerate(offsets):
            starts, ends = (logits[window].double().cpu() for logits in (output.start_logits, output.end_logits))
            tokens, sides = windows["input_ids"][window].tolist(), windows.sequence_ids(window)
            first = tokens.index(self.tokenizer.cls_token_id) if self.tokenizer.cls_token_id in tokens else 0
            nothing = min(nothing, float(starts[first] + ends[first]))
            texts = [side == 1 and end <= border for side, (_, end) in zip(sides, places, strict=True)]
            marks = [side == 1 and start >= border for side, (start, _) in zip(sides, places, strict=True)]
            for inside, is_text in ((torch.tensor(texts), True), (torch.tensor(marks), False)):
                spans = (inside[:, None] & inside).triu().tril(ANSWER_TOKENS - 1)  # rows begin, columns end
                scores = (starts[:, None] + ends).masked_fill(~spans, float("-inf"))
                if (score := float(scores.max())) > best:
                    best, (start, end) = score, divmod(int(scores.argmax()), len(sides))
                    answer = section[places[start][0] : places[end][1]] if is_text else ""
        return "" if not self.marker and nothing > best else answer

    def _room(self) -> int:
        positions: Any = getattr(self.model.config, "max_position_embeddings", None)
        has_limit = isinstance(positions, int) and positions > 0
        return max(1, positions - 2) if has_limit else MOST_TOKENS * 1_000  # RoBERTa counts from 2
