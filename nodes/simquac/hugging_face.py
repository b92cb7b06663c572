"""Reading-comprehension models of Hugging Face: extractive ones that mark a span, and generative ones.

Only `transformers` uses the network, to load a model; a path to a folder loads only from there. Needs the extra
`torch`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...data.grounding import MARKER, NO_ANSWER, is_refusal
from ...data.simquac import ReadingQuestion
from ...errors import ModelError, of_extra
from ...prompts import shipped

PREFIX = "hf:"
MOST_TOKENS = 384
"""Tokens of one window over a section, question included (as usual for SQuAD)."""
STRIDE = 128
"""Tokens by which windows overlap."""
ANSWER_TOKENS = 60
"""Maximum tokens of an answer: QuAC's have at most 30 words."""
BEST = 20
"""Starts and ends that are combined."""

ReaderKind: TypeAlias = Literal["extractive", "seq2seq", "causal"]

_CLASSES: dict[ReaderKind, str] = {
    "extractive": "AutoModelForQuestionAnswering",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "causal": "AutoModelForCausalLM",
}


@dataclass
class HuggingFaceReader:
    """Answers questions with a model from a folder, or from the hub by its name."""

    path: str
    kind: ReaderKind
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    marker: bool = False
    """Whether the word CANNOTANSWER follows the section, as in the training of QuAC's own readers; else a model may
    answer "nothing" with its first token, as for SQuAD 2."""

    @classmethod
    def of(cls, path: str | Path, *, marker: bool = False) -> "HuggingFaceReader":
        """Load a model, with the kind of its configuration; ModelError if that fails.

        A model is extractive if its architecture is one for question answering, an encoder and decoder if its
        configuration marks it as one, else causal. It is loaded onto the graphics card if torch detects one.
        """
        transformers, torch = of_extra("transformers", "readers"), of_extra("torch", "readers")
        name = str(path).removeprefix(PREFIX)
        name = str(Path(name).expanduser()) if name.startswith("~") else name
        local = Path(name).is_dir()
        if not name.strip():
            raise ModelError(f"{PREFIX}: names no model: give a model's folder or its name on the hub")
        if not local and _looks_local(name):
            raise ModelError(f"{PREFIX}{name}: there is no such folder: give a model's folder or its name on the hub")
        try:
            config = transformers.AutoConfig.from_pretrained(name, local_files_only=local)
            kind = _kind(config)
            if kind == "causal" and type(config) in transformers.MODEL_FOR_MASKED_LM_MAPPING and not _writes(config):
                architectures = ", ".join(config.architectures or ["no architecture"])
                raise ModelError(
                    f"{PREFIX}{name}: is an encoder that was not trained to answer ({architectures}): give a model for question "
                    "answering, or one that writes"
                )
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, local_files_only=local)
            model = getattr(transformers, _CLASSES[kind]).from_pretrained(name, local_files_only=local)
        except (OSError, ValueError, KeyError, ImportError) as error:
            line = " ".join(str(error).split())[:200]
            raise ModelError(f"{PREFIX}{name}: cannot be loaded ({line}): give a model's folder or its name") from None
        if kind == "extractive" and not tokenizer.is_fast:
            raise ModelError(f"{PREFIX}{name}: its tokenizer has no offsets: save it with a fast tokenizer")
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        if torch.cuda.is_available():
            model = model.to("cuda")
        return cls(name, kind, model.eval(), tokenizer, marker)

    def __call__(self, questions: Sequence[ReadingQuestion]) -> list[str | None]:
        """The answer to each question, None for a refusal.

        The model gets one question at a time, without sampling. ModelError if it fails, such as one whose tokenizer has
        more words than the model.
        """
        torch = of_extra("torch", "readers")
        answers: list[str | None] = []
        with torch.inference_mode():
            for one in questions:
                try:
                    answer = self._span(one) if self.kind == "extractive" else self._written(one)
                except (RuntimeError, ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
                    line = " ".join(str(error).split())[:200] or type(error).__name__
                    raise ModelError(
                        f"{PREFIX}{self.path}: failed at question {one.id} ({line}): do model and tokenizer fit?"
                    ) from error
                answers.append(None if not answer.strip() or is_refusal(answer) else answer)
        return answers

    def _most(self) -> int:
        """Maximum tokens of a window for the model."""
        config = self.model.config
        most = [MOST_TOKENS, int(self.tokenizer.model_max_length)]
        if isinstance(positions := getattr(config, "max_position_embeddings", None), int) and positions > 0:
            most.append(positions - 2)  # RoBERTa counts from 2
        return max(16, min(most))

    def _span(self, question: ReadingQuestion) -> str:
        """The best span over all windows; empty if the first token, which stands for nothing, has a better score.

        With the marker a span may be the marker or in the section, and not across their border.
        """
        section = f"{question.section} {MARKER}" if self.marker else question.section
        most = self._most()
        query = self._shortened(_query(question), most // 2)
        windows = self.tokenizer(
            query,
            section,
            truncation="only_second",
            max_length=most,
            stride=min(STRIDE, most // 4),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_tensors="pt",
            padding=True,
        )
        offsets = windows.pop("offset_mapping").tolist()
        windows.pop("overflow_to_sample_mapping", None)
        sides = [windows.sequence_ids(number) for number in range(len(offsets))]
        first = [self._first(tokens, side) for tokens, side in zip(windows["input_ids"].tolist(), sides, strict=True)]
        output = self.model(**{key: value.to(self._device()) for key, value in windows.items()})
        best, answer, nothing = float("-inf"), "", float("inf")
        for starts, ends, places, side, none in zip(
            output.start_logits.tolist(), output.end_logits.tolist(), offsets, sides, first, strict=True
        ):
            nothing = min(nothing, starts[none] + ends[none])
            inside = [number for number, which in enumerate(side) if which == 1]
            text = [number for number in inside if places[number][1] <= len(question.section)]
            marked = [number for number in inside if places[number][0] >= len(question.section)]
            for those in (text, marked):
                for score, start, end in _spans(starts, ends, those):
                    if score > best:
                        best = score
                        answer = "" if those is marked else section[places[start][0] : places[end][1]]
        return "" if not self.marker and nothing > best else answer

    def _first(self, tokens: Sequence[int], side: Sequence[int | None]) -> int:
        """The place of the token that means no answer: the class token, or the first token that is not padding."""
        if self.tokenizer.cls_token_id in tokens:
            return list(tokens).index(self.tokenizer.cls_token_id)
        begins = next((number for number, which in enumerate(side) if which is not None), 0)
        return max(0, begins - 1)

    def _device(self) -> Any:
        return getattr(self.model, "device", "cpu")

    def _count(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _shortened(self, text: str, most: int, *, end: bool = True) -> str:
        """The end of a text, or its beginning, that has at most this many tokens."""
        while text and self._count(text) > most:
            cut = max(1, len(text) // 8)
            text = text[cut:] if end else text[:-cut]
        return text

    def _written(self, question: ReadingQuestion) -> str:
        """The model's answer, decoded greedily.

        Of a section that is too long, it gets the beginning.
        """
        room = self._room()
        sent = self._sent(question)
        if room is not None and (over := sent["input_ids"].shape[1] - room) > 0:
            most = max(0, self._count(question.section) - over - 8)  # tokens may divide elsewhere where it is cut
            sent = self._sent(
                question.model_copy(update={"section": self._shortened(question.section, most, end=False)})
            )
            sent = {key: value[:, -room:] for key, value in sent.items()}  # where questions alone are too long
        sent = {key: value.to(self._device()) for key, value in sent.items()}
        token_ids = self.model.generate(
            **sent, max_new_tokens=ANSWER_TOKENS, do_sample=False, pad_token_id=self.tokenizer.pad_token_id
        )[0]
        written = token_ids[sent["input_ids"].shape[1] :] if self.kind == "causal" else token_ids
        lines = str(self.tokenizer.decode(written, skip_special_tokens=True)).strip().splitlines()
        return lines[0] if lines else ""

    def _room(self) -> int | None:
        """Maximum tokens of a request to the model; None where its positions set no limit."""
        positions = getattr(self.model.config, "max_position_embeddings", None)
        if not isinstance(positions, int) or positions <= 0:
            return None
        return max(1, positions - ANSWER_TOKENS) if self.kind == "causal" else max(1, positions - 2)

    def _sent(self, question: ReadingQuestion) -> dict[str, Any]:
        """Ids and mask of a question with its prompt template."""
        pages = shipped("reading")
        material = pages["assistant/material"].fill_from(question.scenario())
        system = pages["assistant/system"].fill_from({"no_answer": NO_ANSWER})
        earlier = "".join(f"\n\nQuestion: {query}\nAnswer: {answer}" for query, answer in question.earlier)
        text = f"{material}{earlier}\n\nQuestion: {question.text}"
        if self.tokenizer.chat_template:
            messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
            text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            sent = self.tokenizer(text, return_tensors="pt", add_special_tokens=False, verbose=False)
        else:
            sent = self.tokenizer(f"{system}\n\n{text}\nAnswer:", return_tensors="pt", verbose=False)
        return {key: sent[key] for key in ("input_ids", "attention_mask")}


def _kind(config: Any) -> ReaderKind:
    names = getattr(config, "architectures", None) or []
    if any("ForQuestionAnswering" in str(name) for name in names):
        return "extractive"
    return "seq2seq" if getattr(config, "is_encoder_decoder", False) else "causal"


def _writes(config: Any) -> bool:
    """Whether a model of a family of encoders was trained to generate text."""
    names = map(str, getattr(config, "architectures", None) or [])
    return bool(getattr(config, "is_decoder", False)) or any(
        name.endswith(("LMHeadModel", "ForCausalLM")) for name in names
    )


def _looks_local(name: str) -> bool:
    """Whether a name is that of a folder rather than of a model on the hub."""
    path = Path(name)
    return (
        path.is_absolute()
        or name.startswith(".")
        or len(path.parts) > 2
        or (len(path.parts) == 2 and path.parent.is_dir())
    )


def _query(question: ReadingQuestion) -> str:
    """The earlier turns and the question, in one line."""
    return " ".join([*(word for pair in question.earlier for word in pair), question.text])


def _spans(starts: Sequence[float], ends: Sequence[float], inside: Sequence[int]) -> Iterator[tuple[float, int, int]]:
    """Score, first and last token of the likely spans of these tokens."""
    first = sorted(inside, key=lambda number: -starts[number])[:BEST]
    last = sorted(inside, key=lambda number: -ends[number])[:BEST]
    for start in first:
        for end in last:
            if start <= end < start + ANSWER_TOKENS:
                yield starts[start] + ends[end], start, end
