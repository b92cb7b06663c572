"""Scoring functions trained on other people's satisfaction: by the words of one role, or by nearest replies.

Each learns a user's satisfaction less that user's mean, because what is judged is which of two conversations of one
user is the better one. Needs the extra `ml`, for Chinese also `zh`.
"""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean
from typing import Any

from ...data import domains
from ...data.labels.annotations import of_message
from ...data.records import Conversation, Role
from ...data.text.word_segmentation import words_of
from ...errors import of_extra
from ..over_users.folds import FOLDS, dealt, parts
from .pairs import Values
from .rated import LABEL, RatedConversations, centred, number_of
from .rules import Tester

PENALTY = 1.0
"""Ridge regression's weight of the penalty."""
NEAREST = 20
"""Replies of the memory that a reply is compared with."""

Learner = Callable[[RatedConversations, Sequence[int]], Tester]
"""From rated conversations and the places of those in training, a rater."""


def by_words(role: Role) -> Learner:
    """Ridge regression (penalty 1) on the TF-IDF weights of one side's words."""

    def learn(rated: RatedConversations, places: Sequence[int]) -> Tester:
        weigh = _vectoriser()
        texts = [_side(rated.conversations[place], role) for place in places]
        model = of_extra("sklearn.linear_model", "ml").Ridge(alpha=PENALTY, solver="sparse_cg", tol=1e-8)
        model.fit(weigh.fit_transform(texts), centred(rated, places))

        def tester(conversations: Sequence[Conversation]) -> Values:
            predicted = model.predict(weigh.transform([_side(one, role) for one in conversations]))
            return [float(value) for value in predicted]

        return tester

    return learn


def by_nearest_replies(rated: RatedConversations, places: Sequence[int]) -> Tester:
    """People's mean rating of the 20 stored replies most like each reply with the turn before it.

    Likeness is the cosine of TF-IDF weights, and weighs; a conversation's value is the mean over its replies. It is how
    a user made from people says how satisfied it is.
    """
    numpy = of_extra("numpy", "ml")
    texts: list[list[str]] = []
    deviations: list[float] = []
    level = dict(zip(places, centred(rated, places), strict=True))
    for place in places:
        mean = rated.satisfaction[place] - level[place]
        for text, points in _replies(rated.conversations[place]):
            if points is not None:
                texts.append(text)
                deviations.append(points - mean)
    if not texts:  # only whole conversations are rated
        for place in places:
            for text, _ in _replies(rated.conversations[place]):
                texts.append(text)
                deviations.append(level[place])
    weigh = _vectoriser()
    memory, targets = weigh.fit_transform(texts), numpy.array(deviations)

    def tester(conversations: Sequence[Conversation]) -> Values:
        return [_of_replies(one) for one in conversations]

    def _of_replies(conversation: Conversation) -> float | None:
        replies = [text for text, _ in _replies(conversation)]
        if not replies:
            return None
        alike = numpy.asarray((weigh.transform(replies) @ memory.T).todense())
        return fmean(_weighted(numpy, row, targets) for row in alike)

    return tester


def held_out(learn: Learner, rated: RatedConversations) -> Values:
    """Values of all conversations by scoring functions trained on other people, in five folds of users; two users or
    more."""
    users = len(set(rated.users))
    values: list[float | None] = [None] * len(rated.users)
    for train, test in parts(dealt(rated.users, min(FOLDS, users))):
        of_test = learn(rated, train)([rated.conversations[place] for place in test])
        for place, value in zip(test, of_test, strict=True):
            values[place] = value
    return values


LEARNERS: dict[str, Learner] = {
    "words of the replies": by_words("assistant"),
    "words of the user": by_words("user"),
    "nearest replies": by_nearest_replies,
}


def _weighted(numpy: Any, alike: Any, targets: Any) -> float:
    nearest = numpy.argsort(-alike, kind="stable")[:NEAREST]
    weights = alike[nearest]
    total = float(weights.sum())
    return float(weights @ targets[nearest]) / total if total > 0 else 0.0


def _vectoriser() -> Any:
    return of_extra("sklearn.feature_extraction.text", "ml").TfidfVectorizer(analyzer=_words, sublinear_tf=True)


def _words(side: tuple[str, Any]) -> list[str]:
    text, language = side
    return words_of(text, language) or [""]


def _side(conversation: Conversation, role: Role) -> Any:
    texts = (message.text for message in conversation.messages if message.role == role and message.stored)
    return "\n".join(texts), domains.of(conversation).language(conversation) or "en"


def _replies(conversation: Conversation) -> Iterator[tuple[Any, float | None]]:
    """Each reply with the user's turn before it, and the user's rating of it."""
    language = domains.of(conversation).language(conversation) or "en"
    for exchange in conversation.exchanges:
        before = "\n".join(message.text for message in exchange.user if message.stored)
        for message in exchange.assistant:
            text = f"{before}\n{message.text}"
            yield (text, language), number_of(of_message(message).get(LABEL))
