"""About how many tokens and dollars calls take."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the nodes bring LangGraph along, and `--help` need not wait for it
    from ...nodes.calls.prices import PriceQuery


@dataclass
class CallCosts:
    """Tokens and dollars of calls that are counted one by one."""

    sent: int = 0
    replied: int = 0
    dollars: float = 0.0
    unknown: str | None = None
    """Why the cost is unknown."""

    def add(self, model: "PriceQuery | None", sent: int, replied: int) -> None:
        """Count a call; None: of a model that costs nothing."""
        dollars, unknown = price_about(model, {"input_tokens": sent, "output_tokens": replied})
        self.sent, self.replied = self.sent + sent, self.replied + replied
        self.dollars, self.unknown = self.dollars + dollars, self.unknown or unknown


def price_about(model: "PriceQuery | None", tokens: Mapping[str, int]) -> tuple[float, str | None]:
    """US dollars of a call with so many tokens; 0 and the reason without a price."""
    from ...errors import MissingExtraError
    from ...nodes.calls.prices import price

    if model is None:
        return 0.0, None
    try:
        dollars = price(model, tokens)
    except MissingExtraError as error:
        return 0.0, str(error)
    return (0.0, f"no price of the model {model.name!r} is known") if dollars is None else (dollars, None)
