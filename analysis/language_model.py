"""A causal language model of this machine that says what a text costs: bits of each token of a message.

Needs the extra `readers`. A model is a GGUF file or a folder of transformers. It is run as it is: nothing is drawn, so the
same texts cost the same twice.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from copy import deepcopy
from functools import cached_property
from io import StringIO
from math import fsum, log
from pathlib import Path
from typing import Any, NamedTuple

from ..data.identity import digest
from ..errors import ModelError, of_extra

WORDS = {"user": "User: ", "assistant": "Assistant: "}
"""How the sides are named where a model has no chat template that takes such a conversation."""
MARKS = ("\ue000", "\ue001", "\ue002", "\ue003")
"""Characters of private use: they stand for the texts while the template is read."""


class Frame(NamedTuple):
    """What a chat template puts around texts, where the model speaks as the simulated user."""

    head: str
    """Before the scenario."""
    begins: str
    """Between the scenario and an own first message."""
    answers: str
    """Between the scenario and a first message of the other side."""
    to_other: str
    """Between an own message and one of the other side: its first token ends the own message."""
    to_own: str


class Cost(NamedTuple):
    """The bits of a message."""

    text: float
    """Of its tokens but the first."""
    first: float
    """Of its first token: how such messages begin."""
    end: float
    """Of its end there: how long such messages are."""

    @property
    def bits(self) -> float:
        """All of them."""
        return self.text + self.first + self.end


class LanguageModel:
    """A model and its tokenizer."""

    def __init__(self, path: Path) -> None:
        """`path`: a GGUF file, or a folder that transformers reads; ModelError for anything else."""
        self.torch: Any = of_extra("torch", "readers")
        transformers: Any = of_extra("transformers", "readers")
        for module in ("gguf", "accelerate") if path.is_file() else ():
            of_extra(module, "readers")
        self.name = path.name
        where = {"gguf_file": path.name} if path.is_file() else {}
        folder = path.parent if path.is_file() else path
        try:
            given = {**where, "local_files_only": True}
            with redirect_stderr(StringIO()):  # bars of its own
                self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **given)
                self.model = transformers.AutoModelForCausalLM.from_pretrained(folder, **given).eval()
        except (OSError, ValueError) as error:
            raise ModelError(f"{path}: transformers reads no model there: {str(error).splitlines()[0]}") from None
        self.context = int(getattr(self.model.config, "max_position_embeddings", 2048))

    @cached_property
    def digest(self) -> str:
        """Names the weights and the tokenizer's words, so that kept results are not another model's."""
        sums = [float(weight.detach().double().sum()) for weight in self.model.parameters()]
        return digest("language model", sums, self.tokenizer.get_vocab())

    @cached_property
    def frame(self) -> Frame:
        """The parts of the chat template; of plain lines where it takes no such conversation."""
        scenario, own, other, again = MARKS
        try:
            first = self._rendered(("system", scenario), ("assistant", own), ("user", other), ("assistant", again))
            second = self._rendered(("system", scenario), ("user", other), ("assistant", own))
            head, begins, to_other, to_own = _between(first, scenario, own, other, again)
            _, answers, _ = _between(second, scenario, other, own)
        except (AttributeError, ValueError, TypeError):
            self.has_template = False
            own, other = f"\n{WORDS['user']}", f"\n{WORDS['assistant']}"
            start = self.tokenizer.bos_token or self.tokenizer.eos_token or "\n"
            return Frame(start, own, other, other, own)
        return Frame(head, begins, answers, to_other, to_own)

    has_template = True
    """Whether its own chat template is used; known once `frame` was read."""

    def _rendered(self, *messages: tuple[str, str]) -> str:
        """A conversation by the chat template; jinja2's TemplateError, which a template raises, becomes a ValueError."""
        from jinja2 import TemplateError

        turns = [{"role": role, "content": text} for role, text in messages]
        try:
            return str(self.tokenizer.apply_chat_template(turns, tokenize=False))
        except TemplateError as error:
            raise ValueError(str(error)) from None

    def tokens(self, text: str) -> list[int]:
        """The tokens of a piece of text; pieces are joined as tokens, so that a message has the same ones everywhere."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"]) if text else []

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        """Inside, an operation takes one thread: messages side by side use the cores better than parts of one."""
        before = self.torch.get_num_threads()
        self.torch.set_num_threads(1)
        try:
            yield
        finally:
            self.torch.set_num_threads(before)


class Costs:
    """The costs of messages one after the other: what begins as the one before is not run again."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._ids: list[int] = []
        """The tokens whose keys and values are held."""
        self._held: Any = None

    def of(self, before: Sequence[int], messages: Sequence[Sequence[int]]) -> list[Cost]:
        """The bits of each of the messages, had it come after these tokens."""
        end = self._model.tokens(self._model.frame.to_other)[:1]
        told = [[*message, *end] for message in messages]
        # The last token before the messages is run with them: what follows it is what is asked for.
        self._hold(before[:-1])
        if len(told) > 1:
            held = deepcopy(self._held)
            held.batch_repeat_interleave(len(told))
        else:  # the message stays: the next history begins with it
            held, self._ids = self._held, [*self._ids, before[-1], *told[0][:-1]]
        longest = max(map(len, told))
        rows = [[before[-1], *one[:-1]] + [0] * (longest - len(one)) for one in told]  # what is behind is not looked at
        logits = self._run(rows, held, longest)
        return [_cost(self._bits(row[: len(one)], one)) for row, one in zip(logits, told, strict=True)]

    def _hold(self, ids: Sequence[int]) -> None:
        """Hold the keys and values of these tokens, from where they differ from those that are held."""
        same = 0
        for held, new in zip(self._ids, ids, strict=False):
            if held != new:
                break
            same += 1
        if self._held is None:
            from transformers import DynamicCache

            self._held = DynamicCache(config=self._model.model.config)
        elif same < len(self._ids):
            self._held.crop(same - len(self._ids))  # below 0: so many tokens less
        if same < len(ids):
            self._run([[*ids[same:]]], self._held, 1)
        self._ids = [*ids]

    def _run(self, rows: list[list[int]], held: Any, keep: int) -> Any:
        torch = self._model.torch
        with torch.inference_mode():
            given = {"input_ids": torch.tensor(rows), "past_key_values": held}
            return self._model.model(**given, use_cache=True, logits_to_keep=keep).logits

    def _bits(self, logits: Any, told: list[int]) -> list[float]:
        torch = self._model.torch
        costs = torch.nn.functional.cross_entropy(logits.float(), torch.tensor(told), reduction="none")
        return [cost / log(2) for cost in costs.tolist()]


def _cost(bits: Sequence[float]) -> Cost:
    return Cost(text=fsum(bits[1:-1]), first=bits[0], end=bits[-1])


def _between(text: str, *marks: str) -> list[str]:
    """What stands before each of the marks; ValueError where one is missing, as where a template drops a text."""
    pieces = []
    for mark in marks:
        before, found, text = text.partition(mark)
        if not found:
            raise ValueError(f"the template has no place for {mark!r}")
        pieces.append(before)
    return pieces
