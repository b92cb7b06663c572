"""Estimates from conversations: people's shares of each kind of message, and a simulator's own."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Literal, TypeAlias

from ....data import domains
from ....data.identity import digest
from ....data.people.pairing import STORED
from ....data.people.splits import UserPart, named_user, of_part, user_of
from ....data.records import Attempt, Conversation
from ....data.text.languages import Language, language_of
from ....errors import DataError
from ...speakers.replay import replayed
from .shares import Shares, distance, scale_for
from .traits import LENGTH, PLACES, TRAITS, MessagePlace, Trait, TraitCell, Traits, cuts_of, traits_of

REASON = "unlike_people"
"""The filter's reason to reject a draft that the cast's rules accept."""
FEWEST = 50
"""Minimum number of messages from which shares are estimated."""
FEWEST_OF_A_PLACE = 20
"""Minimum number of people's messages at a place; with fewer, first and later messages are pooled."""

StyleSource: TypeAlias = str | Path | Sequence[Conversation]
"""Conversations, or the path of some."""
_LEAVING = ("user_ended", "user_gave_up")
_PlacedText: TypeAlias = tuple[MessagePlace, str]


@dataclass(frozen=True)
class StyleMessages:
    """The messages behind one side of the comparison."""

    name: str
    """Of the file or folder."""
    digest: str
    """Of its messages."""
    messages: int
    users: int


@dataclass(frozen=True)
class StyleOpinion:
    """The estimates for one draft."""

    people: float
    """Share of such messages among people's at this place (p)."""
    drafts: float | None
    """Share of such messages among the simulator's drafts (q); None if it is unknown."""
    accept: float
    """Probability of acceptance."""
    weight: float | None = None
    """The ratio p / q, divided by its mean over the known drafts (self-normalised); None if q is unknown."""


@dataclass(frozen=True)
class AtPlace:
    """The estimates for messages at one place."""

    cuts: tuple[int, ...]
    """Upper ends of the classes of length."""
    length: int
    """Median length of people's messages, in characters."""
    people: Shares
    drafts: Shares | None
    mean_ratio: float = 1.0
    """Mean of p / q over the known drafts. It is not 1, as both shares are smoothed."""
    _scales: dict[int, float] = field(default_factory=dict, repr=False, compare=False)

    def opinion(self, traits: Traits, most: int) -> StyleOpinion:
        """The estimates for a draft, if the draft numbered `most` is always accepted.

        With known drafts the probability is min(1, p / (M q)). Without, it is that of the trait that is rarest among
        people, against the commonest value of the same trait.
        """
        cell = traits.cell(self.cuts)
        share = self.people.joint[cell]
        if self.drafts is None:
            return StyleOpinion(share, None, min(self.ratios(cell).values()))
        own = self.drafts.joint[cell]
        weight = share / own / self.mean_ratio
        return StyleOpinion(share, own, min(1.0, share / (self._scale(self.drafts, most) * own)), weight)

    def accepted(self, most: int) -> float:
        """Share of the earlier drafts that are accepted before the last; 1 without any."""
        if self.drafts is None:
            return 1.0
        scale = self._scale(self.drafts, most)
        return sum(min(share, self.people.joint[cell] / scale) for cell, share in self.drafts.joint.items())

    def _scale(self, drafts: Shares, most: int) -> float:
        if most not in self._scales:
            self._scales[most] = scale_for(self.people, drafts, most)
        return self._scales[most]

    def ratios(self, cell: TraitCell) -> dict[Trait | Literal["length"], float]:
        """How rare each trait's value is among people: against the drafts, else against people's commonest value."""
        ratios: dict[Trait | Literal["length"], float] = {}
        for place, (name, value) in enumerate(zip((LENGTH, *TRAITS), cell, strict=True)):
            shares = self.people.marginals[place]
            against = max(shares) if self.drafts is None else self.drafts.marginals[place][value]
            ratios[name] = shares[value] / against
        return ratios


@dataclass(frozen=True)
class StyleComparison:
    """The style of people, and that of a simulator, at each place of a conversation."""

    language: Language
    people: StyleMessages
    drafts: StyleMessages | None
    places: Mapping[MessagePlace, AtPlace]
    pooled: bool
    """Whether first and later messages are pooled, because there are too few of one kind."""

    @classmethod
    def of(
        cls, source: StyleSource, language: Language | None, part: UserPart = "all", drafts: StyleSource | None = None
    ) -> "StyleComparison":
        """The estimates from conversations of people in a language (default: the commonest).

        DataError if there are fewer than 50 such messages, of people or of drafts.
        """
        name, conversations = _read(source)
        of_people = [one for one in conversations if not _is_simulated(one)]
        if not of_people:
            raise DataError(f"{name}: holds no conversation of people: give conversations that people had")
        of_people = [one for one in of_people if of_part(one, part)]
        language = language or _commonest_language(of_people) or "en"
        messages = [message for one in of_people for message in _user_messages(one, language)]
        if len(messages) < FEWEST:
            raise DataError(_too_few(name, of_people, len(messages), language, part))
        lengths = Counter(place for place, _ in messages)
        pooled = any(lengths[place] < FEWEST_OF_A_PLACE for place in PLACES)
        own: list[_PlacedText] | None = None
        draft_set: StyleMessages | None = None
        if drafts is not None:
            called, proposed = _read(drafts)
            draft_conversations = [one for one in proposed if part == "all" or _is_of(one, part)]
            own = [draft for one in draft_conversations for draft in _user_drafts(one, language)]
            if len(own) < FEWEST:
                raise DataError(
                    f"drafts {called}: has {len(own)} drafts of the user that can be counted (language {language}, part "
                    f"{part}), and {FEWEST} are the fewest: simulate more without --like, or leave drafts out"
                )
            draft_set = _learnt(called, own, draft_conversations)
        places: dict[MessagePlace, AtPlace] = {
            place: _at(place, messages, own, language, pooled=pooled) for place in PLACES
        }
        return cls(language, _learnt(name, messages, of_people), draft_set, places, pooled)

    def distance(self, source: StyleSource) -> dict[MessagePlace, float]:
        """Total variation, 0 to 1, between these conversations' user messages and people's shares, by place.

        Both shares are estimated in the same way. Small sets differ by chance: compare with the distance of other
        people. A place without a message is left out.
        """
        messages = [message for one in _read(source)[1] for message in _user_messages(one, self.language)]
        distances: dict[MessagePlace, float] = {}
        for place, here in self.places.items():
            texts = [text for at, text in messages if self.pooled or at == place]
            if texts:
                counted = (traits_of(text, self.language).cell(here.cuts) for text in texts)
                distances[place] = distance(Shares.of(counted, len(here.cuts) + 1).joint, here.people.joint)
        return distances


def _read(source: StyleSource) -> tuple[str, Sequence[Conversation]]:
    """Name and conversations of a source."""
    if isinstance(source, (str, Path)):
        return Path(source).resolve().name, replayed(source).conversations
    return "conversations", source


def _is_simulated(conversation: Conversation) -> bool:
    """Whether the user is simulated: by its domain, or because a run wrote the conversation."""
    return conversation.provenance is not None or domains.of(conversation).simulated(conversation) is True


def _is_of(conversation: Conversation, part: UserPart) -> bool:
    """Whether drafts may be used with this part of the people.

    They may not contain a word of a person of the other part.
    """
    of_person = STORED in conversation.extra or (not _is_simulated(conversation) and named_user(conversation))
    return not of_person or of_part(conversation, part)


def _commonest_language(conversations: Iterable[Conversation]) -> Language | None:
    spoken: Counter[Language | None] = Counter(domains.of(one).language(one) for one in conversations)
    del spoken[None]
    return max(spoken, key=lambda language: (spoken[language], str(language)), default=None)


def _too_few(name: str, conversations: Sequence[Conversation], number: int, language: Language, part: UserPart) -> str:
    spoken = _commonest_language(conversations)
    if spoken not in (None, language):
        return f"{name}: its people write {spoken}, and the language of the cast is {language}: give --language {spoken}, or another source"
    of = "" if part == "all" else f" of the part {part!r} of its users"
    return (
        f"{name}: has {number} messages of people{of} in the language {language}, and {FEWEST} is the minimum from which "
        "shares are estimated: give a larger source"
    )


def _learnt(name: str, messages: Iterable[_PlacedText], conversations: Iterable[Conversation]) -> StyleMessages:
    ordered = sorted(messages)
    return StyleMessages(name, digest(ordered)[:16], len(ordered), len({user_of(one) for one in conversations}))


def _user_messages(conversation: Conversation, language: Language) -> Iterator[_PlacedText]:
    """The user's messages in the language."""
    domain = domains.of(conversation)
    spoken, place = domain.language(conversation), PLACES[0]
    for message in conversation.messages:
        if message.role == "user" and message.stored:
            text = domain.text_in(message, language, spoken)
            if text and text.strip():
                yield place, text
            place = PLACES[1]


def _user_drafts(conversation: Conversation, language: Language) -> Iterator[_PlacedText]:
    """Every draft of the user that the cast's rules accepted: those that the filter judges.

    A message that ends the conversation is not among them, as the filter does not judge it.
    """
    last = conversation.messages[-1] if conversation.messages and conversation.stop in _LEAVING else None
    domain, spoken = domains.of(conversation), domains.of(conversation).language(conversation)
    unsaid = [turn for turn in conversation.unsaid if turn.role == "user"]
    seen = 0
    for number, message in enumerate(conversation.messages):
        if message.role != "user":
            continue
        place = PLACES[min(seen, 1)]
        before = [attempt for turn in unsaid if turn.after == number for attempt in turn.attempts]
        for text in _texts([*before, *message.attempts], language):
            yield place, text
        if message.stored and message is not last:
            stands = domain.text_in(message, language, spoken)
            if stands and stands.strip():
                yield place, stands
        seen += message.stored
    for turn in unsaid:
        if turn.after == len(conversation.messages):
            for text in _texts(turn.attempts, language):
                yield PLACES[min(seen, 1)], text


def _texts(attempts: Iterable[Attempt], language: Language) -> Iterator[str]:
    """The texts of drafts that another style filter has rejected; accepted texts stand as messages."""
    for attempt in attempts:
        rejected = attempt.verdict == "rejected" and attempt.reason == REASON
        if rejected and attempt.text.strip() and language_of(attempt.text) in (None, language):
            yield attempt.text


def _at(
    place: MessagePlace,
    messages: Sequence[_PlacedText],
    own: Sequence[_PlacedText] | None,
    language: Language,
    *,
    pooled: bool,
) -> AtPlace:
    here = [traits_of(text, language) for at, text in messages if pooled or at == place]
    lengths = [traits.characters for traits in here]
    cuts = cuts_of(lengths)
    classes = len(cuts) + 1
    people = Shares.of((traits.cell(cuts) for traits in here), classes)
    drafts, mean_ratio = None, 1.0
    if own is not None:
        # Where the simulator has too few messages at a place, those of both places are the best estimate.
        draft_texts = [text for at, text in own if at == place]
        draft_texts = [text for _, text in own] if pooled or len(draft_texts) < FEWEST_OF_A_PLACE else draft_texts
        # One spare message of any kind: a draft that is rare on both sides does not count as people's.
        cells = [traits_of(text, language).cell(cuts) for text in draft_texts]
        drafts = Shares.of(cells, classes, spare=1.0)
        mean_ratio = fmean(people.joint[cell] / drafts.joint[cell] for cell in cells)
    return AtPlace(cuts, round(median(lengths)), people, drafts, mean_ratio)
