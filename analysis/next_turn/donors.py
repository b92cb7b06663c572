"""Turns of others at the same place: of another person, or of the simulated users of an earlier study."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ...data import domains
from ...data.identity import digest
from ...data.next_turns import Moment, NextTurn, moments_of
from ...data.people import identity_of, origin_of, topic_key, user_of
from ...data.records import Conversation
from ...data.text.languages import Language
from ..realism.measures.transcripts import task_context, task_of


def language_of(conversation: Conversation) -> Language:
    """The language of the user's messages in a conversation."""
    return domains.of(conversation).language(conversation) or "en"


@dataclass(frozen=True)
class OtherPerson:
    """A conversation whose turns stand in for others."""

    user: str
    texts: tuple[str, ...]
    """What the user said, turn after turn."""
    ends: bool
    """Whether its user has left, and not only the record ended."""


@dataclass
class Donors:
    """Conversations by their subject, as sources of turns. A digest of seed and moment decides which one is drawn."""

    by_topic: dict[str, list[OtherPerson]] = field(default_factory=lambda: defaultdict(list))
    by_task: dict[str, list[OtherPerson]] = field(default_factory=lambda: defaultdict(list))
    by_origin: dict[tuple[str, str], list[OtherPerson]] = field(default_factory=lambda: defaultdict(list))
    """Those that were simulated on the scenario of a stored conversation, by that one's id and scenario."""

    @classmethod
    def of(cls, conversations: Sequence[Conversation], language: Language) -> "Donors":
        """The conversations whose user's words are to be had in the language."""
        donors = cls()
        moments: dict[int, list[Moment]] = defaultdict(list)
        for moment in moments_of(conversations):
            moments[moment.number].append(moment)
        for number, own in moments.items():
            conversation = conversations[number]
            if (texts := _texts(conversation, own, language)) is None:
                continue
            donor = OtherPerson(user_of(conversation), texts, own[-1].ended)
            for topic in topics_of(conversation, language):
                donors.by_topic[topic].append(donor)
            donors.by_task[task_of(conversation)].append(donor)
            if (origin := origin_of(conversation)) is not None:
                donors.by_origin[origin].append(donor)
        return donors

    def drawn(self, moment: Moment, user: str, seed: int, purpose: str, pool: Sequence[OtherPerson]) -> NextTurn | None:
        """A turn at the moment's place from a conversation of another user; None without one.

        First a user is drawn, then one of their conversations, so that users with many are not drawn more often. The
        text is drawn from those that have a turn at this place; if none has one, at the last place that any has.
        Whether its user leaves is drawn apart, from those that got as far; where none did, all had left. The two are
        independent, so a text beside an end is from a user who stayed.
        """
        others = [donor for donor in pool if donor.user != user and donor.texts]
        if not others:
            return None
        place = min(moment.turn, max(len(donor.texts) for donor in others) - 1)
        having = [donor for donor in others if len(donor.texts) > place]
        reached = [
            donor for donor in others if len(donor.texts) >= moment.turn and (donor.ends or _goes_on(donor, moment))
        ]
        chosen = _drawn(having, seed, purpose, "text", moment)
        stays = _drawn(reached, seed, purpose, "end", moment) if reached else None
        leaves = any(donor.ends for donor in others) if stays is None else not _goes_on(stays, moment)
        return NextTurn(id=moment.key, key=moment.key, text=chosen.texts[place], stopped=leaves)


def _goes_on(donor: OtherPerson, moment: Moment) -> bool:
    return len(donor.texts) > moment.turn


def _drawn(donors: Sequence[OtherPerson], seed: int, purpose: str, what: str, moment: Moment) -> OtherPerson:
    """A conversation of a user: every user is as likely, and every conversation of theirs."""
    by_user: dict[str, list[OtherPerson]] = defaultdict(list)
    for donor in donors:
        by_user[donor.user].append(donor)
    users = list(by_user.values())
    own = users[_draw(len(users), seed, purpose, f"{what} of whom", moment)]
    return own[_draw(len(own), seed, purpose, what, moment)]


def _draw(count: int, seed: int, purpose: str, what: str, moment: Moment) -> int:
    return int(digest("next turn", seed, purpose, what, moment.conversation.id, moment.key)[:16], 16) % count


def topics_of(conversation: Conversation, language: Language) -> Iterator[str]:
    """The topics of a conversation: its topic and its context's words in the language."""
    if key := topic_key(conversation):
        yield key
    if context := " ".join(task_context(conversation, language).split()):
        yield f"context {context}"


def about_the_same(donors: Donors, moment: Moment, language: Language) -> list[OtherPerson]:
    """The conversations that were simulated on the moment's own scenario, else those about its context or topic."""
    if donors.by_origin and (own := donors.by_origin.get(identity_of(moment.conversation))):
        return own
    matches: dict[int, OtherPerson] = {}
    for topic in topics_of(moment.conversation, language):
        for donor in donors.by_topic.get(topic, ()):
            matches.setdefault(id(donor), donor)
    return list(matches.values())


def by_language(conversations: Sequence[Conversation], languages: Iterable[Language]) -> Callable[[Language], Donors]:
    """The source conversations in each requested language."""
    donors = {language: Donors.of(conversations, language) for language in dict.fromkeys(languages)}
    return donors.__getitem__


def _texts(conversation: Conversation, moments: Sequence[Moment], language: Language) -> tuple[str, ...] | None:
    """The user's turns in the language; None if the data has not all of them."""
    spoken = domains.of(conversation).language(conversation)
    turns = []
    for moment in moments:
        if not moment.ended:
            texts = [domains.in_language(message, language, spoken) for message in moment.messages]
            turns.append("\n".join(text for text in texts if text is not None))
            if None in texts:
                return None
    return tuple(turns)
