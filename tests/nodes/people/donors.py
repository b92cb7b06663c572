"""People whose stored turns are said again, and conversations with users made from them."""

import json

import duologue
from duologue.data import Conversation, Message
from duologue.data.people.splits import part_of
from duologue.graphs import agent_test
from duologue.nodes.people import ChoiceWeights, PeopleSpeaker

GOAL = "find a mild tea for the evening"
STEADY = ChoiceWeights(spread=0)
"""No chance: the turn that fits best."""


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


def simulate(donors, goal=GOAL, assistant=lambda messages: "Camomile tea is mild.", options=None, **changes):
    limits = changes.pop("limits", None)
    user = PeopleSpeaker.of(donors, "user", options=options, weights=changes.pop("weights", STEADY))
    cast = agent_test.cast(user=user, assistant=assistant, **changes)
    (conversation,) = duologue.simulate(cast, agent_test.scenarios([{"goal": goal}]), limits=limits)
    return conversation


def of_user(conversation):
    return [message.text for message in conversation.messages if message.role == "user"]


def origins(conversation, role="user"):
    return [message.extra["people"] for message in conversation.messages if message.role == role]


def of_log(*texts, name="d"):
    """A log of alternating messages, the user's first: nothing but its messages is known."""
    return talk(*texts, user=name).model_copy(update={"scenario": {"kind": "messages", "digest": name}})


def halves():
    names = [f"user {n}" for n in range(40)]
    tune = [name for name in names if part_of(name) == "tune"]
    test = [name for name in names if part_of(name) == "test"]
    assert len(tune) > 5
    assert len(test) > 5
    return tune, test


def write(path, conversations):
    lines = (
        {
            "id": conversation.id,
            "user": conversation.scenario["user"],
            "messages": [{"role": m.role, "content": m.text} for m in conversation.messages],
        }
        for conversation in conversations
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
