"""A causal language model of this machine that says what a text costs: bits of each token of a message.

Needs the extra `readers`. A model is a GGUF file or a folder of transformers. It is run as it is: nothing is drawn, so the
same texts cost the same twice.
"""

import re
from collections.abc import Sequence
from contextlib import redirect_stderr
from functools import cached_property
from io import StringIO
from math import fsum, log
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import TemplateError

from ..data.identity import digest
from ..errors import ModelError, of_extra

MARKS = "\ue000\ue001\ue002\ue003"
"""Characters of private use: they stand for the texts while the template is read."""
OWN_LINE, OTHER_LINE = "\nUser: ", "\nAssistant: "
"""Before the texts of each side where a model has no chat template that takes such a conversation."""


class Frame(NamedTuple):
    """What a chat template puts around texts, where the model speaks as the simulated user."""

    head: str
    """Before the scenario."""
    begins: str
    """Between the scenario and an own first message."""
    to_other: str
    """Between an own message and one of the other side: its first token ends the own message."""
    to_own: str


class Cost(NamedTuple):
    """The bits of a message: their sum is what it costs."""

    text: float
    """Of its tokens but the first."""
    first: float
    """Of its first token: how such messages begin."""
    end: float
    """Of its end there: how long such messages are."""


class LanguageModel:
    """A model and its tokenizer."""

    def __init__(self, path: Path) -> None:
        """`path`: a GGUF file, or a folder that transformers reads; ModelError for anything else."""
        self.torch: Any = of_extra("torch", "readers")
        self.transformers: Any = of_extra("transformers", "readers")
        for module in ("gguf", "accelerate") if path.is_file() else ():
            of_extra(module, "readers")
        self.name = path.name
        where = {"gguf_file": path.name} if path.is_file() else {}
        folder = path.parent if path.is_file() else path
        try:
            given = {**where, "local_files_only": True}
            with redirect_stderr(StringIO()):  # bars of its own
                self.tokenizer = self.transformers.AutoTokenizer.from_pretrained(folder, **given)
                self.model = self.transformers.AutoModelForCausalLM.from_pretrained(folder, **given).eval()
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
        """The parts of the chat template; of plain lines where it takes no such conversation, or drops a text."""
        sides = zip(("system", "assistant", "user", "assistant"), MARKS, strict=True)
        turns = [{"role": role, "content": mark} for role, mark in sides]
        try:
            whole = str(self.tokenizer.apply_chat_template(turns, tokenize=False))
            head, begins, to_other, to_own, _ = re.split(f"[{MARKS}]", whole)
        except (AttributeError, ValueError, TypeError, TemplateError):
            start = self.tokenizer.bos_token or self.tokenizer.eos_token or "\n"
            return Frame(start, OWN_LINE, OTHER_LINE, OWN_LINE)
        return Frame(head, begins, to_other, to_own)

    def tokens(self, text: str) -> list[int]:
        """The tokens of a piece of text; pieces are joined as tokens, so that a message has the same ones everywhere."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"]) if text else []


class Costs:
    """The costs of messages one after the other: what begins as the one before is not run again."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._ids: list[int] = []
        self._held: Any = model.transformers.DynamicCache(config=model.model.config)
        """The keys and values of these tokens."""

    def of(self, before: Sequence[int], message: Sequence[int]) -> Cost:
        """The bits of the tokens of a message, had it come after these."""
        model, torch = self._model, self._model.torch
        ids, told = [*before, *message], [*message, *model.tokens(model.frame.to_other)[:1]]
        same = 0
        for held, new in zip(
            self._ids, before[:-1], strict=False
        ):  # the last one is run: it tells of the first to come
            if held != new:
                break
            same += 1
        self._held.crop(same - len(self._ids))  # below 0: so many tokens less
        self._ids = ids
        with torch.inference_mode():
            given = {"input_ids": torch.tensor([ids[same:]]), "past_key_values": self._held}
            logits = model.model(**given, use_cache=True, logits_to_keep=len(told)).logits[0]
            nats = torch.nn.functional.cross_entropy(logits.float(), torch.tensor(told), reduction="none")
        first, *text, end = (cost / log(2) for cost in nats.tolist())
        return Cost(text=fsum(text), first=first, end=end)
