"""Whether a user's messages belong together: to the replies, to each other, to the task, and to questions.

The shuffled-turn baseline, a user of messages of different people, hardly differs in measures of single messages.

Only content words count (`words`), each once in a message, without numbers. Against replies also those of the task's
context do not count, which all conversations about it share. No word is weighted by how rare it is. Such a weight would
come from the conversations of a side or of both, and the value of a conversation would depend on the others. Function
words are left out by list instead.

A long message shares more words with any text. So that no value grows merely with length, the searched text is cut to a
fixed size, or two replies to the length of the shorter. Words in common are counted per pair of words.
"""

from functools import partial

from .answered_questions import answered
from .contradiction import contradicted
from .measure import Measure
from .transcripts import UserTranscript
from .words import share_in

OF_REPLY = {"zh": 400, "en": 1600}
"""Characters from the beginning of a reply in which words are looked for: about 250 words in either language."""
OF_OWN = {"zh": 100, "en": 400}
"""Characters of what the user said last in which words are looked for."""
MOST_EARLIER = 8
"""Earlier replies beside which a message is put: those right before."""


def _reply_taken_up(transcript: UserTranscript) -> float | None:
    """Share of a message's words that its own reply has, less the share in earlier replies.

    Each pair of replies is cut to the shorter one. Later replies are not put beside a message, as they answer it.
    """
    replies, language = transcript.searched_replies, transcript.language
    gaps = weights = 0.0
    places: list[int] = []
    for number, reply in enumerate(replies):
        words = transcript.content_beyond_task[number]
        if not reply.strip():
            continue
        for earlier in places[-MOST_EARLIER:] if words else ():
            length = min(len(reply), len(replies[earlier]))
            gap = share_in(words, reply[:length], language) - share_in(words, replies[earlier][:length], language)
            gaps, weights = gaps + gap * len(words), weights + len(words)
        places.append(number)
    return gaps / weights if weights else None


def _new(transcript: UserTranscript, number: int) -> tuple[float, int]:
    """Number of the message's words that occur neither in the reply before nor in the user's last messages.

    The second number counts all words of the message. None of none without a reply right before: whoever splits a
    thought into two messages brings nothing from elsewhere.
    """
    language = transcript.language
    words = transcript.content_beyond_task[number] if transcript.searched_replies[number].strip() else []
    own_text, place = "", number
    while place and len(own_text) < OF_OWN[language]:
        place -= 1
        own_text = transcript.searched_messages[place] + own_text
    earlier_text = f"{own_text[-OF_OWN[language] :]}\n{transcript.searched_replies[number][: OF_REPLY[language]]}"
    return (len(words) * (1 - share_in(words, earlier_text, language)) if words else 0.0), len(words)


def _new_words(transcript: UserTranscript) -> float | None:
    counts = [_new(transcript, number) for number in range(1, len(transcript.texts))]
    total = sum(words for _, words in counts)
    return sum(new for new, _ in counts) / total if total else None


def _new_words_of(transcript: UserTranscript, number: int) -> float | None:
    new, words = _new(transcript, number)
    return new / words if number and words else None


def _own_words_again(transcript: UserTranscript) -> float | None:
    """The chance that a content word of one of the user's messages is one of another: Simpson's, between messages."""
    common = pairs = 0
    for number, words in enumerate(transcript.content):
        for other in transcript.content[:number]:
            common += len(words & other)
            pairs += len(words) * len(other)
    return common / pairs if pairs else None


def _first_on_task(transcript: UserTranscript) -> float | None:
    words = transcript.content[0]
    if not words or not transcript.task_words:
        return None
    return share_in(words, transcript.searched_context, transcript.language)


_coherence = partial(Measure, family="coherence")

MEASURES = (
    _coherence(
        name="reply taken up",
        unit="difference of shares",
        definition="How much more of a message's content words the reply before it has than the replies at earlier places "
        "of the same conversation (the last eight), both cut to the length of the shorter, over all messages from the "
        "third on; words of the task's context do not count.",
        source="ours; entrainment after Brennan and Clark 1996, against replies of other places as in Healey, Purver and "
        "Howes 2014",
        direction="messages follow from the reply before them",
        of_conversation=_reply_taken_up,
        keyboard="Hardly: a word has to be typed, and whoever types little does so after every reply. A typing error "
        "hides a word.",
    ),
    _coherence(
        name="new words",
        unit="share of words",
        definition="Share of the content words of all messages after a reply that neither the reply right before (its "
        "first 400 characters in Chinese, 1,600 in English) nor the user's own last 100 or 400 characters have; words of "
        "the task's context do not count.",
        direction="messages bring up what nobody has spoken of",
        of_conversation=_new_words,
        keyboard="Partly: a typing error makes a new word, and what is pasted from the reply makes none. A thought that "
        "is split into several messages counts with the first of them only.",
        of_text=_new_words_of,
    ),
    _coherence(
        name="own words again",
        unit="share of pairs of words",
        definition="Chance that a content word of one of the user's messages is one of another: words in common of each "
        "two messages over the product of their numbers of words, each summed over all two. So neither long messages "
        "nor many have more by that.",
        source="ours; Simpson 1949, between samples as in Morisita 1959",
        direction="messages stay with what the user spoke of",
        of_conversation=_own_words_again,
        keyboard="Partly: a typing error makes two words of one, and short messages leave out what was said before.",
    ),
    _coherence(
        name="questions answered",
        unit="share of questions",
        definition="Share of the replies with a question to the user (a mark and 'you', no offer of help) whose next "
        "message answers it: it has a content word of the question, a number where one is asked for, or no question and "
        "the beginning of an answer or a first clause of at most four words.",
        source="ours; answers as second parts of pairs after Schegloff and Sacks 1973",
        direction="users answer what they are asked",
        keyboard="Hardly: an answer of one word counts. A typing error may hide a word.",
        of_text=answered,
    ),
    _coherence(
        name="contradictions",
        unit="share of what is told again",
        definition="Of what users tell again (budget, days, people, month, where to, for whom, likes and more) the share "
        "with another value than before, where no word speaks of a change and the reply has not named the value.",
        source="ours; after contradictions in persona dialogues (Nie et al. 2021), by rule",
        direction="users contradict themselves",
        of_conversation=contradicted,
        keyboard="Hardly: only numbers and names are compared. A digit that is mistyped counts as another value.",
        survives_translation=False,
    ),
    _coherence(
        name="first message on the task",
        unit="share of words",
        definition="Share of the first message's content words that the task's context has. The whole is the message, so "
        "that a longer one has no more by that; the context is given, and the same whoever speaks.",
        direction="the first message keeps to the words of the task",
        of_conversation=_first_on_task,
        keyboard="Partly: text that is pasted from the task has its words. A typing error hides a word.",
        shows="first",
    ),
)
