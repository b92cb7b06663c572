"""Whether a user's messages belong together: to the replies, to each other, and to the task.

A user of messages of different people hardly differs from one person in measures of single messages.

Only content words count, each once in a message, without numbers. Against replies also those of the task's context do
not count, which all conversations about it share. No word is weighted by how rare it is: the weight would come from
other conversations.

A long message shares more words with any text. So that no value grows merely with length, the searched text is cut to a
fixed size, or two replies to the length of the shorter. Words in common are counted per pair of words.
"""

from .transcripts import UserTranscript, share_in

OF_REPLY = {"zh": 400, "en": 1600}
"""Characters from the beginning of a reply in which words are looked for: about 250 words in either language."""
OF_OWN = {"zh": 100, "en": 400}
"""Characters of what the user said last in which words are looked for."""
MOST_EARLIER = 8
"""Earlier replies beside which a message is put: those right before."""


def reply_taken_up(transcript: UserTranscript) -> float | None:
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


def new_words(transcript: UserTranscript) -> float | None:
    """Share of the words that occur neither in the reply right before nor in the user's last messages."""
    counts = [_new(transcript, number) for number in range(1, len(transcript.texts))]
    total = sum(words for _, words in counts)
    return sum(new for new, _ in counts) / total if total else None


def _new(transcript: UserTranscript, number: int) -> tuple[float, int]:
    """Number of the message's new words, and of all its words.

    None of none without a reply right before: whoever splits a thought into two messages brings nothing from elsewhere.
    """
    language = transcript.language
    words = transcript.content_beyond_task[number] if transcript.searched_replies[number].strip() else []
    own_text, place = "", number
    while place and len(own_text) < OF_OWN[language]:
        place -= 1
        own_text = transcript.searched_messages[place] + own_text
    earlier_text = f"{own_text[-OF_OWN[language] :]}\n{transcript.searched_replies[number][: OF_REPLY[language]]}"
    return (len(words) * (1 - share_in(words, earlier_text, language)) if words else 0.0), len(words)


def own_words_again(transcript: UserTranscript) -> float | None:
    """The chance that a content word of one of the user's messages is one of another: Simpson's, between messages."""
    common = pairs = 0
    for number, words in enumerate(transcript.content):
        for other in transcript.content[:number]:
            common += len(words & other)
            pairs += len(words) * len(other)
    return common / pairs if pairs else None


def first_on_task(transcript: UserTranscript) -> float | None:
    """Share of the first message's content words that the task's context has."""
    words = transcript.content[0]
    if not words or not transcript.task_words:
        return None
    return share_in(words, transcript.searched_context, transcript.language)
