"""Conversations of agents with seeded faults in the world of the example airline, and their groups of failures.

    PYTHONPATH=examples/airline python -m tests.analysis.testing.seeded_causes

It runs in a process of its own with `examples/airline` on the path, because the example registers a domain:
`main` prints, for each agent of each file, the cause of each of its failed conversations as JSON.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import airline
from airline.agent import POLICY, build
from airline.scripted import ScriptedAgent, ScriptedUser
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

import duologue
from duologue import nodes
from duologue.analysis.agent_faults.rules import findings
from duologue.nodes.messages.building import PageMessages
from tests.analysis.testing.adjusted_rand import adjusted_rand

AGENTS = Path(__file__).parent / "faulty_agents"
FIRST = "of_the_rules_author"
"""The file of the agents that every other file is measured together with."""
REPEATS = 2
PROMPT = "You are the assistant of an airline"

_WISHES = (
    ("move my flight to 2026-05-03", "The booking code is QX4821.", "flex", 3),
    ("fly a week later", "The booking code is LM0077. The new date is 2026-06-12.", "flex", 5),
    ("move my booking to 2026-07-20", "The booking code is TR9310, the cheapest fare there was.", "basic", 9),
    ("change my flight to 2026-08-01", "The booking code is ZK5500.", "flex", 0),
    ("come home a day earlier, on 2026-09-09", "The booking code is AV1234.", "flex", 4),
    ("move my flight", "The booking code is BC7788. The new date is 2026-10-02.", "flex", 3),
    ("leave on 2026-11-15 instead", "The booking code is DE3141.", "flex", 2),
    ("postpone my trip to 2026-12-21", "The booking code is FG2718.", "flex", 0),
    ("travel later", "The booking code is HJ1618. The new date is 2026-04-11.", "flex", 6),
    ("have my flight on 2026-03-07", "The booking code is KL1414.", "flex", 2),
)
"""Goal, facts, fare and free seats: of ten customers, one has a fare that cannot be moved, and two find no free seat."""


def scenarios() -> list[dict[str, Any]]:
    """A scenario for each customer, with a success that asks for exactly one call, or for none."""
    return [_scenario(*wish) for wish in _WISHES]


def _scenario(goal: str, facts: str, fare: str, seats: int) -> dict[str, Any]:
    code, date = facts.partition("code is ")[2][:6], f"{goal} {facts}".partition("2026-")[2][:5]
    before = {"date": "2026-01-31", "fare": fare}
    moved = fare == "flex" and seats > 0
    after = {**before, "date": f"2026-{date}"} if moved else before
    call = {"name": "change", "arguments": {"booking": code, "date": f"2026-{date}"}, "times": 1}
    success: dict[str, Any] = {"tool_called": call} if moved else {"tool_not_called": "change"}
    said = {"any": [after["date"]] if moved else ["cannot"]}
    success |= {"final_state": {"bookings": {code: after}}, "text_contains": said}
    success |= {"not": {"text_contains": PROMPT}}
    database = {
        "bookings": {code: before},
        "seats": {f"2026-{date}": seats, f"2026-{date[:3]}{int(date[3:]) + 1:02}": 3},
    }
    return {
        "kind": "airline",
        "goal": goal,
        "facts": facts,
        "database": database,
        "expected": {code: after},
        "success": success,
    }


def agents() -> dict[str, dict[str, Any]]:
    """Every file of `faulty_agents`, by its name, with its agents by their faults."""
    modules = sorted(path.stem for path in AGENTS.glob("*.py") if path.stem != "__init__")
    return {name: importlib.import_module(f"tests.analysis.testing.faulty_agents.{name}").AGENTS for name in modules}


class AttentiveUser(ScriptedUser):
    """The example's customer, who also finds a date at the very end of its wish."""

    def reply(self, messages: list[BaseMessage], seed: int) -> AIMessage:
        """The message, from pages in which a space parts the wish from the facts."""
        spaced = [
            HumanMessage(str(message.text).replace("<facts>", "<facts> "))
            if isinstance(message, HumanMessage)
            else message
            for message in messages
        ]
        return super().reply(spaced, seed)


def result_of(model: Any, repeats: int = REPEATS) -> Any:
    """The result of a test of an agent with this chat model."""
    cast = airline.cast().replace(
        user=AttentiveUser(),
        user_view=_view(),
        assistant=nodes.AgentSpeaker("assistant", build(model, POLICY)),
        answer_validator=nodes.not_empty,
        closing=nodes.scoring(success=airline.database_is_right),
    )
    return duologue.test(None, scenarios(), cast=cast, repeats=repeats, max_turns=8)


def _view() -> Any:
    pages = duologue.prompts.library(Path(airline.__file__).parent / "prompts")
    return PageMessages("user", pages)


def main() -> None:
    """Print the failed conversations of each agent by their causes, and what the rules find in the sound agent."""
    seeded = {
        name: {fault: _causes(result_of(model())) for fault, model in of_file.items()}
        for name, of_file in agents().items()
    }
    sound = result_of(ScriptedAgent())
    print(
        json.dumps(
            {
                "seeded": seeded,
                "index": {name: _index(seeded[FIRST], of_file) for name, of_file in seeded.items()},
                "conversations": len(scenarios()) * REPEATS,
                "sound": {
                    "failed": _causes(sound),
                    "findings": [cause.name for record in sound.records for cause in findings(record)],
                },
            }
        )
    )


def _index(*files: dict[str, list[str]]) -> float:
    """The adjusted Rand index of causes and seeded faults over the failed conversations of files of agents."""
    by_fault = {fault: names for of_file in files for fault, names in of_file.items()}
    return round(adjusted_rand((fault, name) for fault, names in by_fault.items() for name in names), 3)


def _causes(result: Any) -> list[str]:
    return [failure.cause.name for failure in result.failures]


if __name__ == "__main__":
    main()
