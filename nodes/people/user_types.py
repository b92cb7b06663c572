"""Types of users: clusters of a source's people by how they write, and a mixture of them.

In each conversation one type is drawn by its weight, and turns of its people come first.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p
from typing import Any, Self

from ...data.rules.asking import questions_in
from ...data.text.languages import language_of
from ...errors import DataError, SettingError, of_extra
from .turns import SourceConversation

MOST_TYPES = 20


@dataclass(frozen=True)
class UserMixture:
    """Types of users and their weights.

    The types are those of k-means on people's message length, turns and questions, ordered by message length, the
    shortest first.
    """

    types: tuple[int, ...]
    """The type of each source conversation's person, from 0."""
    weights: tuple[float, ...]
    """The weight of each type; they add up to 1."""

    @classmethod
    def of(cls, mix: str, donors: Sequence[SourceConversation], source: str) -> Self:
        """The mixture of a number of types, with the shares of their people, or of weights.

        DataError for more types than people.
        """
        numbers = mix_weights(mix)
        count = len(numbers) if len(numbers) > 1 else int(next(iter(numbers)))
        types = _types(donors, count, source)
        if len(numbers) > 1:
            return cls(types, tuple(weight / sum(numbers) for weight in numbers))
        of_user = dict(zip((donor.user for donor in donors), types, strict=True))
        shares = [sum(own == number for own in of_user.values()) / len(of_user) for number in range(count)]
        return cls(types, tuple(shares))

    def drawn(self, draw: int) -> int:
        """The type of a conversation, by a random integer from 0 to 2**31 - 1."""
        left = (draw + 0.5) / 2**31
        for number, weight in enumerate(self.weights):
            left -= weight
            if left < 0:
                return number
        return len(self.weights) - 1


def mix_weights(mix: str) -> tuple[float, ...]:
    """The numbers of `3` or `0.2,0.5,0.3`; SettingError if they are neither a number of types nor weights."""
    try:
        numbers = tuple(float(part) for part in mix.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) == 1 and numbers[0] == int(numbers[0]) and 2 <= numbers[0] <= MOST_TYPES:
        return numbers
    if 2 <= len(numbers) <= MOST_TYPES and all(0 <= number < 1e6 for number in numbers) and sum(numbers) > 0:
        return numbers
    raise SettingError(
        f"people: mix must be a number of types from 2 to {MOST_TYPES}, or a weight for each such as 0.2,0.5,0.3, not {mix!r}"
    )


def _types(donors: Sequence[SourceConversation], count: int, source: str) -> tuple[int, ...]:
    """The type of each conversation's person."""
    numpy = of_extra("numpy", "ml")
    by_user: dict[str, list[SourceConversation]] = defaultdict(list)
    for donor in donors:
        by_user[donor.user].append(donor)
    if len(by_user) < count:
        raise DataError(f"{source}: has {len(by_user)} users, and mix asks for {count} types of them")
    users = sorted(by_user)
    features: Any = numpy.array([_manner(by_user[user]) for user in users])
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / numpy.where(spread > 0, spread, 1.0)
    with of_extra("threadpoolctl", "ml").threadpool_limits(1):
        clusters = of_extra("sklearn.cluster", "ml").KMeans(count, n_init=10, random_state=0).fit_predict(scaled)
    lengths = [float(numpy.mean(features[clusters == number, 0])) for number in range(count)]
    order = sorted(range(count), key=lambda number: lengths[number])
    types = {user: order.index(int(cluster)) for user, cluster in zip(users, clusters, strict=True)}
    return tuple(types[donor.user] for donor in donors)


def _manner(conversations: Sequence[SourceConversation]) -> tuple[float, float, float]:
    """A person's message length (logarithm, characters), turns (logarithm) and share of messages with a question."""
    texts = [message.text for one in conversations for message in one.messages if message.role == "user"]
    asking = sum(questions_in(text, language_of(text) or "en") > 0 for text in texts)
    count = max(len(texts), 1)
    return sum(log1p(len(text)) for text in texts) / count, log1p(count / len(conversations)), asking / count
