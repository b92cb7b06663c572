"""Questions about a section, for tests of readers."""

from duologue.data import Conversation, Message
from duologue.data.simquac import ReadingQuestion, Topic

SECTION = "Three keepers lived there. The last keeper left in 1968. A ship, the Mary Ann, sank near the light in 1970."


def question(text="Who left?", *references, number=0, section=SECTION, title="Light", **more):
    return ReadingQuestion(
        id=f"{section[:9]}/{number}",
        conversation=more.pop("conversation", section[:9]),
        title=title,
        header="",
        background="",
        section=section,
        text=text,
        references=references or ("The last keeper",),
        **more,
    )


def talk(*pairs, section=SECTION, title="Light"):
    topic = Topic(title=title, header="Keepers", section=section)
    messages = [
        Message(role=role, text=text) for pair in pairs for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    return Conversation(id=f"id of {title}", scenario=topic.scenario(), messages=tuple(messages))
