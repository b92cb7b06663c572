"""What the two commands that predict labels from words share: the models' options, and a label's reliability."""

from typing import TYPE_CHECKING, Annotated, Literal

from ..options.shared import model_for, split_by

if TYPE_CHECKING:
    from ...data.loading import Loaded

MODELS = ("forest", "logistic")

Models = Annotated[
    list[str] | None,
    model_for("over words: forest, logistic or xgboost (extra stats). May be repeated. Default: forest, logistic."),
]
SplitOption = Annotated[
    Literal["users", "published"],
    split_by("a fifth of the turns at random, whose users and conversations are in training too."),
]


def label_trust(loaded: "Loaded", label: str, side: str = "") -> str:
    """The reliability of the label of messages that is shown."""
    from ...analysis.labels.reliability import Trusts

    return Trusts.of(loaded).note(label, [side] if side else (), of_messages=True)
