"""What an agent's `interrupt()` asks, and who answers it: the other side in words, a policy, or a function.

A text, and an object with one question, are asked in words. A request of LangChain's `HumanInTheLoopMiddleware`
(`action_requests` and `review_configs`, or one `tool_approval` for each call), which deepagents' `interrupt_on` uses
too, is decided by a policy. A function answers any other value; without one it ends the conversation.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import Interrupt
from pydantic import PydanticUserError, TypeAdapter

from ...data.records import INTERRUPT, Role
from ...data.rules.outcomes import consent
from ...errors import DuologueError
from ..contract import ContractError, describe
from ..models.specs import is_import_path
from ..replies import Step, plain_or_text
from ..settings.import_path import imported
from ..settings.redaction import error_line

Approve: TypeAlias = str | Callable[[Any], Any]
"""`all`, `none`, `ask-user`, MODULE:NAME, or a function from the interrupt's value to the value that resumes it."""
Pending: TypeAlias = Mapping[str, Any]
"""An interrupt as plain JSON: `id` and `value`; of a question in words also `question` and the `form` of its answer."""

ASK_USER = "ask-user"
POLICIES = ("all", "none", ASK_USER)
_QUESTION_KEYS = ("question", "query", "prompt", "message")
"""Names under which an interrupt's object has its question, as in LangGraph's documentation."""


class ApprovalError(DuologueError, RuntimeError):
    """The function of `approve`, which is the test's own code, raised."""

    record_line = property(str)  # the message has the cause already


def checked_policy(role: Role, approve: Any) -> Approve | None:
    """The policy, with the function of an import path in its place; ContractError for anything else."""
    if is_import_path(approve):
        approve = imported(approve, f"{role}: approve")
    if approve is None or approve in POLICIES or callable(approve):
        return approve  # type: ignore[no-any-return]
    raise ContractError(f"{role}: approve: expected {', '.join(POLICIES)}, MODULE:NAME or a function, got {approve!r}")


def policy_name(approve: Approve | None) -> str:
    """The policy in a record."""
    return approve if isinstance(approve, str) else str(describe(approve).get("name", "function"))


def pending_of(interrupt: Interrupt) -> dict[str, Any]:
    """An interrupt as plain JSON, with what is needed to answer it in words, if that is possible."""
    value, form = plain_or_text(interrupt.value), _form(interrupt.response_schema)
    question = _question_in(value) if isinstance(value, Mapping) or isinstance(interrupt.value, str) else None
    pending: dict[str, Any] = {"id": interrupt.id, "value": value}
    return pending if question is None or form is None else pending | {"question": question, **form}


def _question_in(value: Any) -> str | None:
    """The question of an interrupt's value: the text itself, or the one under a name that says so, with its choices."""
    if isinstance(value, str):
        return value if value.strip() else None
    texts = [value[key] for key in _QUESTION_KEYS if isinstance(value.get(key), str) and value[key].strip()]
    if len(texts) != 1 or _actions(value):
        return None
    choices = [f"- {one}" for key in ("options", "choices") for one in value.get(key) or () if isinstance(one, str)]
    return "\n".join([*texts, *choices])


def _form(schema: Any) -> dict[str, Any] | None:
    """How words fill the answer's schema: as they are, as yes or no, or as the one text of an object; None if not."""
    if schema is None:
        return {}
    try:
        plain = schema if isinstance(schema, Mapping) else TypeAdapter(schema).json_schema()
    except PydanticUserError:
        return None
    if plain.get("type") == "boolean":
        return {"form": "boolean"}
    if plain.get("type") == "string":
        return None if "enum" in plain or "const" in plain else {}
    properties: Mapping[str, Any] = plain.get("properties") or {}
    texts = [name for name, kind in properties.items() if kind.get("type") == "string" and "enum" not in kind]
    only_text = len(texts) == 1 and set(plain.get("required") or ()) <= set(texts)
    return {"form": "object", "field": texts[0]} if only_text else None


def asks_in_words(pending: Sequence[Pending]) -> bool:
    """Whether all interrupts are questions that the other side can answer in words."""
    return all("question" in one for one in pending)


def answers(approve: Approve | None, pending: Sequence[Pending]) -> Literal["user", "policy"] | None:
    """Who answers an agent at these interrupts: the other side if there is a question for it, else the policy."""
    by_policy = [one for one in pending if "question" not in one]
    answered = callable(approve) or (approve is not None and all(_actions(one["value"]) for one in by_policy))
    if not pending or (by_policy and not answered):
        return None
    return "user" if approve == ASK_USER or len(by_policy) < len(pending) else "policy"


def decided(approve: Approve | None, pending: Sequence[Pending], words: str = "") -> dict[str, Any]:
    """What resumes an agent that stands at these interrupts, by their ids.

    `words`: the other side's reply, which answers the questions, and decides under `ask-user`. ContractError where no
    possible decision fits the policy; ApprovalError where its function raises.
    """
    return {one["id"]: _decided(approve, one, words) for one in pending}


def _decided(approve: Approve | None, pending: Pending, words: str) -> Any:
    value, form, agreed = pending["value"], pending.get("form"), consent(words) == "yes"
    if "question" in pending:
        return {pending["field"]: words} if form == "object" else agreed if form == "boolean" else words
    if callable(approve):
        try:
            return approve(value)
        except Exception as error:
            raise ApprovalError(f"{policy_name(approve)} failed: {error_line(error, placed=True)}") from error
    is_asked = approve == ASK_USER
    rejection = {"type": "reject", "message": words if is_asked else "Not approved."}
    decision = {"type": "approve"} if (agreed if is_asked else approve == "all") else rejection
    for review in value.get("review_configs", ()):
        if decision["type"] not in (allowed := review.get("allowed_decisions") or [decision["type"]]):
            name, only = review.get("action_name"), ", ".join(allowed)
            raise ContractError(f"approve: {name} allows only {only}: give a function that decides")
    return {"decisions": [decision] * len(_actions(value))} if "action_requests" in value else decision


def question_of(approve: Approve | None, pending: Sequence[Pending]) -> str:
    """What is asked of the user: the questions, and under `ask-user` the actions that it is to approve."""
    lines = [str(one["question"]) for one in pending if "question" in one]
    actions = [action for one in pending if "question" not in one for action in _actions(one["value"])]
    if actions and approve == ASK_USER:
        lines.append("Do you approve this? Please answer yes or no.")
    for action in actions if approve == ASK_USER else ():
        given = (action.get("args") or {}).items()
        values = (
            f"{name}: {one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}" for name, one in given
        )
        lines.append(f"- {action['name']} ({', '.join(values)})".removesuffix(" ()"))
    return "\n".join(lines)


def _actions(value: Any) -> list[Mapping[str, Any]]:
    if not isinstance(value, Mapping):
        return []
    if value.get("type") == "tool_approval" and "name" in value:
        return [value]
    actions = value.get("action_requests")
    if not isinstance(actions, list) or not isinstance(value.get("review_configs"), list):
        return []
    return actions if all(isinstance(one, Mapping) and "name" in one for one in actions) else []


def decision_step(approve: Approve | None, pending: Sequence[Pending], given: Mapping[str, Any]) -> Step:
    """The record of a decision: a tool call `interrupt` with the question, the policy and what it decided."""
    values, answer = [one["value"] for one in pending], [plain_or_text(given[one["id"]]) for one in pending]
    result = {"approve": policy_name(approve), "answer": answer[0] if len(answer) == 1 else answer}
    return step_of(values[0] if len(values) == 1 else values, json.dumps(result, ensure_ascii=False))


def step_of(asked: Any, answer: str, status: Literal["success", "error"] = "success") -> Step:
    """The record of an interrupt; with the status `error` of one that nobody can answer."""
    arguments = asked if isinstance(asked, dict) else {"value": asked}
    call = AIMessage("", tool_calls=[{"name": INTERRUPT, "args": arguments, "id": INTERRUPT}])
    return Step(INTERRUPT, messages=[call, ToolMessage(answer, tool_call_id=INTERRUPT, status=status)])
