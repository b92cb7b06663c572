"""Users stitched together: messages of users put in each other's places, between conversations or within them."""

import random
from collections import defaultdict
from collections.abc import Sequence

from duologue.analysis.realism.measures.transcripts import task_of
from duologue.data import Conversation, Message
from duologue.data.recllmsim import Situation

Place = tuple[int, int]
"""Number of a conversation and of one of its messages."""


def between(conversations: Sequence[Conversation], seed: int = 0, first: int = 0) -> list[Conversation]:
    """Every user's message from another conversation about the task, from the same place in it; replies stay.

    `first`: messages of the user before this number stay too.
    """
    rng = random.Random(seed)
    alike: dict[tuple[str, int], list[Place]] = defaultdict(list)
    for number, conversation in enumerate(conversations):
        for place, message in enumerate(_said(conversation)[first:], start=first):
            alike[task_of(conversation), place].append((number, message))
    source: dict[Place, Place] = {}
    for _, places in sorted(alike.items()):
        rng.shuffle(places)
        source |= zip(places, [*places[1:], places[0]], strict=True)
    return _rearranged(conversations, source)


def within(conversations: Sequence[Conversation], seed: int = 0, first: int = 0) -> list[Conversation]:
    """The user's messages of each conversation in another order; replies stay where they are."""
    rng = random.Random(seed)
    source: dict[Place, Place] = {}
    for number, conversation in enumerate(conversations):
        places = [(number, message) for message in _said(conversation)[first:]]
        source |= zip(places, rng.sample(places, len(places)), strict=True)
    return _rearranged(conversations, source)


def _said(conversation: Conversation) -> list[int]:
    messages = enumerate(conversation.messages)
    return [number for number, message in messages if message.role == "user" and message.stored]


def _rearranged(conversations: Sequence[Conversation], source: dict[Place, Place]) -> list[Conversation]:
    rearranged = []
    for number, conversation in enumerate(conversations):
        places = [source.get((number, place), (number, place)) for place in range(len(conversation.messages))]
        messages = tuple(conversations[of].messages[place] for of, place in places)
        rearranged.append(conversation.model_copy(update={"messages": messages}))
    return rearranged


THINGS = """anchor apron basket beacon blanket bottle bracelet bridge bucket cabin candle carpet castle chapel clock compass
cottage curtain desert drum engine fabric ferry flute forest fountain garden glacier guitar hammer harbour hotel island
jacket kettle kitchen ladder lagoon lantern library market mirror monastery mountain museum needle orchard paddle palace
pasture pencil piano pillow pottery puzzle quarry ribbon river saddle scarf statue stove temple theatre tower trumpet
tunnel valley vase village violin wagon waterfall whistle window""".split()


def written(users: int, side: str = "u") -> list[Conversation]:
    """Small conversations, two of each user, each about things of its own: what the replies name is what is asked about.

    Of a reply's things the user asks about one four times in five, and else about one that nobody has named.
    """
    conversations = []
    for number in range(users):
        hobbies = ", ".join(random.Random(f"{side}{number}").sample(THINGS, 3))
        for task in ("travel planning", "preparing gifts"):
            name = f"{side}{number}"
            rng = random.Random(f"{name} {task}")
            things = rng.sample(THINGS, 30)
            own_things, named = things[:4], iter(things[4:])
            texts = [f"I need help with the {own_things[0]} and the {own_things[1]}, please."]
            for turn in range(rng.randint(3, 5)):
                offered = [next(named) for _ in range(3)]
                own_thing = rng.choice(own_things)
                texts.append(
                    f"You could begin with the {offered[0]}, go on to the {offered[1]} and end with the {offered[2]}; "
                    f"the {own_thing} is for later. "
                    + f"Take your time for each of them, step {turn}, and look around. "
                    * 3
                )
                about = rng.choice(offered) if rng.random() < 0.8 else rng.choice(THINGS)
                texts.append(rng.choice((f"What about the {about}?", f"Is the {about} near the {own_thing}?",
                                         f"I prefer the {about}, is it far?")))  # fmt: skip
            context = (
                f"Plan something with a {own_things[0]}, a {own_things[1]}, a {own_things[2]} and a {own_things[3]}."
            )
            scenario = Situation(
                task=task, task_context=context, preference=f"5. Daily Interests and Hobbies: {hobbies}"
            ).scenario()
            roles = ("user", "assistant")
            messages = tuple(Message(role=roles[n % 2], text=text) for n, text in enumerate(texts))
            conversations.append(
                Conversation(id=f"{name}-{task}", scenario=scenario, messages=messages, extra={"user": name})
            )
    return conversations
