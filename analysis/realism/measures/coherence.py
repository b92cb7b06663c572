"""Whether a user's messages belong together: to the replies, to each other, to the task, and to questions.

A user who is stitched together from messages of different people passes every measure of single messages; here it is
seen. Only content words count (`words`), each once in a message, without numbers. No word is weighted by how rare it is:
such a weight would come from the conversations of a side or of both, so that the value of a conversation would depend on
which others there are, and how many. Function words are left out by list instead.

What is said at length shares more words with anything. So no value depends on how long a text is by that alone:

- a message is compared with its reply and, beside that, with the replies at other places of the same conversation;
- what was said before is searched over a stretch of fixed length;
- the words of a message are the whole of which a share is taken, not those of the longer text.
"""

from .answers import answered
from .contradiction import contradicted
from .measure import Measure, mean_of_messages, per_conversation
from .transcripts import UserTranscript
from .words import share_in

STRETCH = {"zh": 400, "en": 1600}
"""Characters of what was said last in which the words of a message are looked for: about 250 words in either language."""


def _reply_taken_up(transcript: UserTranscript) -> float | None:
    """How much more messages share with the reply before them than with replies of other places.

    For each two places, the mean of the shares of both messages with their own replies, less the share of the later
    message with the earlier reply: the same messages, the same replies, put together in another way. The later reply is
    not put beside the earlier message, since it answers it.
    """
    content, replies, language = transcript.content, transcript.searched_replies, transcript.language
    places = [number for number in range(len(content)) if content[number] and replies[number].strip()]
    own = {number: share_in(content[number], replies[number], language) for number in places}
    gaps = [
        (own[later] + own[earlier]) / 2 - share_in(content[later], replies[earlier], language)
        for place, later in enumerate(places)
        for earlier in places[:place]
    ]
    return sum(gaps) / len(gaps) if gaps else None


def _new_words(transcript: UserTranscript, number: int) -> float | None:
    """Share of the message's content words that what was said last has not; None if too little was said."""
    words, language = transcript.content[number], transcript.language
    said = ""
    for place in range(number, -1, -1):
        if place < number:
            said = transcript.searched_messages[place] + said
        said = transcript.searched_replies[place] + said
        if len(said) >= STRETCH[language]:
            return 1 - share_in(words, said[-STRETCH[language] :], language) if words else None
    return None


def _own_words_again(transcript: UserTranscript) -> float | None:
    """How alike each two messages of the user are: words in common over the geometric mean of both numbers of words."""
    content = [words for words in transcript.content if words]
    alike = [
        len(one & other) / (len(one) * len(other)) ** 0.5
        for place, one in enumerate(content)
        for other in content[:place]
    ]
    return sum(alike) / len(alike) if alike else None


def _first_on_task(transcript: UserTranscript) -> float | None:
    """Share of the first message's content words that the task's context has."""
    words = transcript.content[0]
    if not words or not transcript.task_words:
        return None
    return share_in(words, transcript.searched_context, transcript.language)


MEASURES = (
    Measure(
        name="reply taken up",
        family="coherence",
        unit="difference of shares",
        definition="How much more of a message's content words the reply before it has than a reply at another place of "
        "the same conversation would: for each two places the mean share of both messages in their own replies, less the "
        "share of the later message in the earlier reply; mean over all two places. A long reply has more words in "
        "common with any message, so it is its own measure.",
        source="ours; lexical entrainment to the last turn after Brennan and Clark 1996, against shuffled turns as in "
        "Reitter and Moore 2014",
        direction="messages follow from the reply before them",
        of=per_conversation(_reply_taken_up),
        keyboard="Hardly: a word has to be typed, and whoever types little does so after every reply. A typing error "
        "hides a word.",
    ),
    Measure(
        name="new words",
        family="coherence",
        unit="share of words",
        definition="Share of a message's content words that what both sides said last does not have, looked for in the "
        "last 400 characters in Chinese and 1,600 in English, from there on; mean over messages.",
        source="ours",
        direction="messages bring up what nobody has spoken of",
        of=mean_of_messages(_new_words),
        keyboard="Partly: a typing error makes a new word, and what is pasted from the reply makes none.",
        of_text=_new_words,
    ),
    Measure(
        name="own words again",
        family="coherence",
        unit="share of words",
        definition="How alike each two messages of the user are: content words in common over the geometric mean of the "
        "numbers of both; mean over all two messages.",
        source="Ochiai's coefficient, without weights of words",
        direction="messages stay with what the user spoke of",
        of=per_conversation(_own_words_again),
        keyboard="Partly: a typing error makes two words of one, and short messages leave out what was said before.",
    ),
    Measure(
        name="questions answered",
        family="coherence",
        unit="share of questions",
        definition="Share of the replies with a question to the user (a mark and `you`, no offer of help) whose next "
        "message answers it: it has a content word of the question, a number where one is asked for, or the beginning "
        "of an answer and no question.",
        source="ours; answers as second parts of pairs after Schegloff and Sacks 1973",
        direction="users answer what they are asked",
        of=mean_of_messages(answered),
        keyboard="Hardly: an answer of one word counts. A typing error may hide a word.",
        of_text=answered,
    ),
    Measure(
        name="contradictions",
        family="coherence",
        unit="share of what is told again",
        definition="Of what users tell again (budget, days, people, month, where to, for whom, likes and more) the share "
        "with another value than before, where no word speaks of a change and the reply has not named the value.",
        source="ours; after contradictions in persona dialogues (Nie et al. 2021), by rule",
        direction="users contradict themselves",
        of=per_conversation(contradicted),
        keyboard="Hardly: only numbers and names are compared. A digit that is mistyped counts as another value.",
    ),
    Measure(
        name="first message on the task",
        family="coherence",
        unit="share of words",
        definition="Share of the first message's content words that the task's context has. The whole is the message, so "
        "that a longer one has no more by that; the context is given, and the same whoever speaks.",
        source="ours",
        direction="the first message keeps to the words of the task",
        of=per_conversation(_first_on_task),
        keyboard="Partly: text that is pasted from the task has its words. A typing error hides a word.",
        shows="first",
    ),
)
