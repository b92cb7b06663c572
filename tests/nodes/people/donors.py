"""People whose stored turns are said again, and conversations with users made from them."""

import asyncio

from langgraph.runtime import Runtime

import duologue
from duologue.data import Conversation, Message
from duologue.graphs import agent_test
from duologue.nodes import Limits
from duologue.nodes.people import PeopleOptions, PeopleSpeaker
from duologue.nodes.state import State
from tests.nodes.states import state_with

GOAL = "find a mild tea for the evening"


def talk(*texts, goal=GOAL, user="ann", number=0, **scenario):
    """A stored conversation of alternating messages, the user's first."""
    messages = tuple(Message(role=("user", "assistant")[n % 2], text=text) for n, text in enumerate(texts))
    return Conversation(id=f"{user}-{number}", scenario={"goal": goal, "user": user, **scenario}, messages=messages)


TEA = talk(
    "Which tea is mild in the evening?",
    "Camomile tea is mild.",
    "Does camomile tea keep me awake?",
    "No, camomile has no caffeine.",
    "Fine, I take the camomile tea.",
    "Enjoy it.",
)
BIKE = talk(
    "My bicycle brake squeals, what now?",
    "Clean the brake rim first.",
    "The rim is clean and it squeals still.",
    "Then change the brake pads.",
    goal="stop a bicycle brake from squealing",
    user="bob",
)


def speaker(donors, role="user", **options):
    """A speaker without chance: the turn that fits best."""
    return PeopleSpeaker.of(donors, role, options=PeopleOptions(**{"spread": 0, **options}))


def simulate(user, scenario=GOAL, *, assistant=lambda _: "Camomile tea is mild.", limits=None, extra=None, **cast):
    """A conversation with a user, or with one made from these conversations, about a scenario or a goal."""
    user = speaker(user) if isinstance(user, list) else user
    made_cast = agent_test.cast(user=user, assistant=assistant, **cast)
    (state,) = agent_test.scenarios([{"goal": scenario} if isinstance(scenario, str) else scenario])
    (conversation,) = duologue.simulate(made_cast, [{**state, "extra": extra or {}}], limits=limits)
    return conversation


def state_of(*, attempts=(), prompt=None) -> State:
    """The state right before the user's first message, after these rejected attempts at it."""
    (state,) = agent_test.scenarios([{"goal": GOAL}])
    return state_with({**state, "id": "c", "attempts": attempts, "prompt": prompt}, "user")


def sent_by(cast, **state):
    """The texts of the messages that the user's model is sent at first."""
    user = cast.nodes["user_simulator"]
    asyncio.run(user(state_of(**state), Runtime(context=Limits())))
    return [str(message.content) for message in user.model.sent[-1]]


def of_user(conversation):
    return [message.text for message in conversation.messages if message.role == "user"]


def origins(conversation, role="user"):
    return [message.extra["people"] for message in conversation.messages if message.role == role]


def shown(conversation, turn=0):
    """The conversations of the examples before a turn of the user."""
    message = [message for message in conversation.messages if message.role == "user"][turn]
    return [one["conversation"] for one in message.extra["like"]["shown"]]


def write(path, conversations):
    duologue.data.formats.record_lines.write(conversations, path)
    return path
