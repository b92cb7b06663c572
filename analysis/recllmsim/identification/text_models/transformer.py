"""An encoder of Transformers, fine-tuned to predict options: one label each, by their own sigmoid.

Needs the extra `readers`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from .....data.identity import digest
from .....errors import SettingError, of_extra
from ....over_users.estimate import FloatArray
from .classifiers import Model, Truth
from .texts import UserText


@dataclass(frozen=True)
class Encoder:
    """A pretrained encoder and how it is taught; the defaults are the published ones ("When Synthetic Meets Real")."""

    path: str | Path
    """A folder with weights and tokenizer, or a name that Transformers has or can fetch. The published one is
    bert-base-chinese."""
    length: int = 512
    """Maximum number of tokens that are read; the rest of a text is cut."""
    epochs: int = 10
    """After which the weights of the epoch with the lowest loss on the validation part are taken."""
    batch: int = 16
    rate: float = 2e-5
    """Of AdamW, falling in a line to 0, as Transformers' trainer has it."""
    validation: float = 0.25
    """Share of the texts to learn from that are only validated on."""

    def classify(self, train: Sequence[UserText], truth: Truth, texts: Sequence[UserText], seed: int) -> FloatArray:
        """Scores of each option, as `classifiers.Classify`. SettingError if the weights cannot be read."""
        torch = of_extra("torch", "readers")
        transformers = of_extra("transformers", "readers")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            tokenizer, model = self._read(transformers, truth.shape[1])
            self._teach(torch, tokenizer, model, train, truth, seed)
            return self._scores(torch, tokenizer, model, texts)

    def _read(self, transformers: Any, options: int) -> tuple[Any, Any]:
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.path)
            model = transformers.AutoModelForSequenceClassification.from_pretrained(
                self.path, num_labels=options, problem_type="multi_label_classification", ignore_mismatched_sizes=True
            )
        except (OSError, ValueError) as error:
            line = " ".join(str(error).split())[:200]
            raise SettingError(f"--encoder {self.path}: cannot be read ({line}): give a folder of weights") from None
        return tokenizer, model

    def _teach(
        self, torch: Any, tokenizer: Any, model: Any, train: Sequence[UserText], truth: Truth, seed: int
    ) -> None:
        order = sorted(range(len(train)), key=lambda place: digest("encoder", seed, place, train[place].raw))
        validation_count = int(self.validation * len(train))
        validation, learnt = order[:validation_count], order[validation_count:]
        steps = self.epochs * -(-len(learnt) // self.batch)
        optimizer = torch.optim.AdamW(model.parameters(), lr=self.rate)
        falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / max(1, steps)))
        lowest, best = inf, None
        for epoch in range(self.epochs):
            model.train()
            shuffled = sorted(learnt, key=lambda place: digest("epoch", seed, epoch, place))
            for batch in _batches(shuffled, self.batch):
                loss = self._loss(torch, tokenizer, model, train, truth, batch)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                falling.step()
                optimizer.zero_grad()
            loss_now = self._validated(torch, tokenizer, model, train, truth, validation)
            if loss_now < lowest:
                lowest, best = loss_now, {name: value.clone() for name, value in model.state_dict().items()}
        if best is not None:
            model.load_state_dict(best)

    def _validated(
        self, torch: Any, tokenizer: Any, model: Any, train: Sequence[UserText], truth: Truth, places: Sequence[int]
    ) -> float:
        """The mean loss; infinite without texts to validate on: then the last epoch is taken."""
        if not places:
            return inf
        model.eval()
        with torch.no_grad():
            losses = [
                float(self._loss(torch, tokenizer, model, train, truth, batch)) * len(batch)
                for batch in _batches(places, self.batch)
            ]
        return sum(losses) / len(places)

    def _loss(
        self, torch: Any, tokenizer: Any, model: Any, texts: Sequence[UserText], truth: Truth, places: Sequence[int]
    ) -> Any:
        labels = torch.tensor(truth[list(places)].astype(np.float32))
        return model(**self._tokens(tokenizer, [texts[place] for place in places]), labels=labels).loss

    def _scores(self, torch: Any, tokenizer: Any, model: Any, texts: Sequence[UserText]) -> FloatArray:
        model.eval()
        with torch.no_grad():
            scores = [
                torch.sigmoid(model(**self._tokens(tokenizer, [texts[place] for place in batch])).logits).numpy()
                for batch in _batches(range(len(texts)), self.batch)
            ]
        return np.concatenate(scores).astype(float)

    def _tokens(self, tokenizer: Any, texts: Sequence[UserText]) -> Any:
        raw = [text.raw for text in texts]
        return tokenizer(raw, truncation=True, max_length=self.length, padding=True, return_tensors="pt")


def encoder(path: str | Path, **settings: Any) -> Model:
    """A fine-tuned encoder as a model, under the name of its folder. `settings`: those of `Encoder`."""
    of_extra("torch", "readers")
    of_extra("transformers", "readers")
    return Model(f"encoder {Path(path).name}", Encoder(path, **settings).classify)


def _batches(places: Sequence[int], size: int) -> list[Sequence[int]]:
    return [places[start : start + size] for start in range(0, len(places), size)]
