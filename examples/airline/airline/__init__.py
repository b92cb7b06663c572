"""An airline's assistant tested against simulated customers: a domain that Duologue does not know.

duologue test --cast airline:cast --scenarios scenarios.jsonl --repeats 4 --out out/airline
"""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from duologue import data, graphs, nodes, prompts
from duologue.nodes.messages import PageMessages
from duologue.nodes.recllmsim import Ending, UserValidator

from .agent import LENIENT, POLICY, build
from .database import Airline
from .domain import DOMAIN
from .scripted import ScriptedAgent, ScriptedUser

__all__ = [
    "DOMAIN",
    "POLICY",
    "agent",
    "cast",
    "database_is_right",
    "promises_what_no_tool_confirmed",
    "world",
]

data.domains.register(DOMAIN)

_PROMISE = re.compile(
    r"\b(?:is now on|has been (?:moved|changed)|i have (?:moved|changed)|(?:moved|changed) (?:it|your))\b", re.I
)


def promises_what_no_tool_confirmed(draft: nodes.Draft, state: nodes.State) -> nodes.Verdict | None:
    """The validator: a reply may say that a booking was moved only if the tool `change` has answered so."""
    done = [call for call in draft.get("tool_calls", []) if call["name"] == "change" and not call.get("error")]
    if done or not _PROMISE.search(draft["text"]):
        return None
    repair = "You say that the booking was moved, and no tool has confirmed it. Use the tools, then answer."
    return {"accepted": False, "reason": "unconfirmed", "repair": repair}


def world(scenario: dict[str, Any]) -> Airline:
    """What the agent's tools work on: each conversation has a database of its own, as the scenario says."""
    return Airline(scenario["database"])


def examples() -> list[dict[str, Any]]:
    """Databases to begin with, and what a customer knows there: `duologue scenarios` makes scenarios of them."""
    return [
        {
            "values": {"booking": code, "date": f"2026-{month:02}-20"},
            "scenario": {
                "database": {
                    "bookings": {
                        code: {"date": f"2026-{month:02}-11", "fare": fare},
                        other: {"date": f"2026-{month:02}-12", "fare": "flex"},
                    },
                    "seats": {f"2026-{month:02}-20": 2, f"2026-{month:02}-21": 3},
                }
            },
        }
        for month, code, other, fare in (
            (3, "PK4410", "PK4711", "flex"),
            (5, "UB2093", "UB2639", "basic"),
            (8, "WE7351", "WE7538", "flex"),
            (9, "DN6602", "DN6206", "basic"),
        )
    ]


RULES = [
    {"forbids": "change", "when": {"fare": "basic"}, "because": "A booking with the fare basic cannot be moved."},
]
"""The policy as data, for `duologue scenarios`."""
world.examples, world.rules = examples, RULES  # type: ignore[attr-defined]


def database_is_right(state: nodes.State, world: Airline) -> nodes.Score:
    """The score: whether the bookings are in the end as the scenario expects them."""
    expected = state["scenario"]["expected"]
    wrong = [code for code, booking in expected.items() if world.bookings.get(code) != booking]
    return nodes.Score(not wrong, f"booking {wrong[0]} is {world.bookings.get(wrong[0])}" if wrong else "as expected")


def cast(
    user: Annotated[str, Field(description="The customer: openai:NAME, or scripted.")] = "scripted",
    model: Annotated[str, Field(description="The agent's model: openai:NAME, or scripted.")] = "scripted",
    careless: Annotated[
        float, Field(description="Share of calls in which the scripted agent promises too much.")
    ] = 0.2,
    impatient: Annotated[float, Field(description="Share of questions at which the scripted customer gives up.")] = 0.1,
    lenient: Annotated[bool, Field(description="Give the agent a policy that is wrong on purpose.")] = False,
) -> graphs.Cast:
    """A customer with a goal and private facts, and an agent with two tools on a small database."""
    pages = prompts.library(Path(__file__).parent / "prompts")
    customer: Any = ScriptedUser(impatient=impatient) if user == "scripted" else user
    agent_model = ScriptedAgent(careless=careless) if model == "scripted" else nodes.chat_model(model)
    return graphs.Cast(
        name="airline",
        user=customer,
        user_view=PageMessages("user", pages),
        question_validator=UserValidator(Ending(may_give_up=True, any_goodbye=True, stored=True)),
        assistant=nodes.AgentSpeaker("assistant", build(agent_model, LENIENT if lenient else POLICY)),
        answer_validator=nodes.every(nodes.not_empty, nodes.validator(promises_what_no_tool_confirmed)),
        closing=nodes.scoring(success=database_is_right),
        world=world,
        limits=nodes.Limits(max_turns=8),
        prompts=pages,
    )


agent = build(ScriptedAgent())
"""The agent alone, with the scripted model, for `duologue scenarios airline:agent`."""
