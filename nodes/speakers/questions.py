"""What an agent's `interrupt()` asks, and who answers it: the other side in words, a policy, or a function.

Approvals have the forms of LangChain's `HumanInTheLoopMiddleware` (`action_requests` and `review_configs`, or one
`tool_approval` for each call), which deepagents' `interrupt_on` uses too. A text, and an object with one question, are
asked in words. Any other value is for `approve`, or ends the conversation.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from langgraph.types import Interrupt
from pydantic import PydanticUserError, TypeAdapter

from ...data.attempts import INTERRUPT
from ...data.records import Role
from ...data.rules.refusals import consent
from ...errors import DuologueError
from ..contract import ContractError, describe
from ..replies import plain_or_text
from ..settings.import_path import imported, is_import_path
from ..settings.redaction import error_line
from ..state import Draft

Approve: TypeAlias = str | Callable[[Any], Any]
"""`all`, `none`, `ask-user`, MODULE:NAME, or a function from the interrupt's value to the value that resumes it."""

ASK_USER = "ask-user"
POLICIES = ("all", "none", ASK_USER)
NOT_APPROVED = "Not approved."
INTERRUPTED: Mapping[Role, str] = {"assistant": "agent_interrupted", "user": "user_rejected"}
"""The stop reason of an agent at an interrupt that cannot be answered, by the role that it plays."""
NO_CHECKPOINTER = "it has no checkpointer"
NO_QUESTION = "it asks no question that words can answer"
NOT_ENDING = "it asks for approval again and again"
_QUESTION = "Do you approve this? Please answer yes or no."
_AGAIN = " Your reply was neither."
_QUESTION_KEYS = ("question", "query", "prompt", "message")
"""Names under which an interrupt's object has its question, as in LangGraph's documentation."""


class ApprovalError(DuologueError, RuntimeError):
    """The function of `approve`, which is the test's own code, raised."""

    drafts: Sequence[Draft] = ()
    """What the agent had done before."""

    @property
    def record_line(self) -> str:
        """The message, which has the cause already."""
        return str(self)


def checked_policy(role: Role, approve: Any) -> Approve | None:
    """The policy, with the function of an import path in its place; ContractError for anything else."""
    if is_import_path(approve):
        approve = imported(approve, f"{role}: approve")
    if approve is None or approve in POLICIES or callable(approve):
        return approve  # type: ignore[no-any-return]
    raise ContractError(f"{role}: approve: expected {', '.join(POLICIES)}, MODULE:NAME or a function, got {approve!r}")


def policy_name(approve: Approve) -> str:
    """The policy in a record."""
    return approve if isinstance(approve, str) else str(describe(approve).get("name", "function"))


def pending_of(interrupt: Interrupt) -> dict[str, Any]:
    """An interrupt as plain JSON: its id, its value, and what is needed to answer it in words, if that is possible."""
    value = plain_or_text(interrupt.value)
    question = _question_in(value) if isinstance(interrupt.value, str) or isinstance(value, Mapping) else None
    pending: dict[str, Any] = {"id": interrupt.id, "value": value}
    fields = _fields(interrupt.response_schema) if question else None
    if fields is not None:
        return pending | {"question": question, **fields}
    is_approval = interrupt.response_schema is None or _is_request(value) or _is_call(value)
    return pending if is_approval else pending | {"form": "unknown"}


def _question_in(value: Any) -> str | None:
    """The question of an interrupt's value: the text itself, or the one under a name that says so."""
    if isinstance(value, str):
        return value if value.strip() else None
    if not isinstance(value, Mapping) or _is_request(value) or _is_call(value):
        return None
    texts = [value[key] for key in _QUESTION_KEYS if isinstance(value.get(key), str) and value[key].strip()]
    choices = [f"- {one}" for key in ("options", "choices") for one in value.get(key) or () if isinstance(one, str)]
    return "\n".join([texts[0], *choices]) if len(texts) == 1 else None


def _fields(schema: Any) -> dict[str, Any] | None:
    """How words fill the answer's schema: as they are, as yes or no, or as the one text of an object; None if not."""
    if schema is None:
        return {}
    try:
        plain = schema if isinstance(schema, Mapping) else TypeAdapter(schema).json_schema()
    except PydanticUserError:
        return None
    kinds = [one for one in plain.get("anyOf") or () if one.get("type") != "null"]
    plain = kinds[0] if len(kinds) == 1 else plain  # an answer that may be missing
    if plain.get("type") == "string":
        return None if "enum" in plain or "const" in plain else {}
    if plain.get("type") == "boolean":
        return {"form": "boolean"}
    properties: Mapping[str, Any] = plain.get("properties") or {}
    texts = [name for name, kind in properties.items() if kind.get("type") == "string" and "enum" not in kind]
    if len(texts) == 1 and set(plain.get("required") or ()) <= set(texts):
        return {"form": "object", "field": texts[0]}
    return None


def asks_in_words(pending: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all interrupts are questions that the other side can answer in words."""
    return bool(pending) and all("question" in one for one in pending)


def decides(approve: Approve | None, pending: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the policy answers these interrupts, without the user."""
    return approve not in (None, ASK_USER) and bool(pending) and all(_decidable(approve, one) for one in pending)


def can_ask(approve: Approve | None, pending: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the other side is asked: there is a question for it, and the policy answers the rest."""
    asked = approve == ASK_USER or any("question" in one for one in pending)
    return bool(pending) and asked and all("question" in one or _decidable(approve, one) for one in pending)


def _decidable(approve: Approve | None, one: Mapping[str, Any]) -> bool:
    """Whether a policy decides on an interrupt: no question, and no form that only a function can fill."""
    return approve is not None and "question" not in one and (callable(approve) or one.get("form") != "unknown")


def answered_in_words(pending: Sequence[Mapping[str, Any]], words: str) -> dict[str, Any]:
    """What resumes an agent at these questions, by their ids: each is given the reply, in the form of its schema."""
    return {one["id"]: _in_form(one, words) for one in pending}


def _in_form(pending: Mapping[str, Any], words: str) -> Any:
    if pending.get("form") == "boolean":
        return consent(words) == "yes"
    return {pending["field"]: words} if pending.get("form") == "object" else words


def decided(approve: Approve, pending: Sequence[Mapping[str, Any]], reply: str | None = None) -> dict[str, Any]:
    """What resumes an agent that stands at these interrupts, by their ids.

    `reply`: the user's answer, under `ask-user`. ContractError where no possible decision fits the policy.
    """
    told = reply if approve == ASK_USER else None
    return {
        one["id"]: _in_form(one, reply)
        if reply is not None and "question" in one
        else _decided(approve, one["value"], told)
        for one in pending
    }


def _decided(approve: Approve, value: Any, reply: str | None) -> Any:
    if callable(approve):
        try:
            return approve(value)
        except Exception as error:
            raise ApprovalError(f"{policy_name(approve)} failed: {error_line(error, placed=True)}") from error
    approved = consent(reply) == "yes" if reply is not None else approve == "all"
    reason = reply if reply is not None else NOT_APPROVED
    if _is_request(value):
        allowed = {config.get("action_name"): config.get("allowed_decisions") for config in value["review_configs"]}
        actions = value["action_requests"]
        return {"decisions": [_decision(action, allowed.get(action["name"]), reason, approved) for action in actions]}
    return _decision(value, None, reason, approved) if _is_call(value) else approved


def _decision(action: Mapping[str, Any], allowed: Any, reason: str, approved: bool) -> dict[str, Any]:
    """A decision on one action, of a type that its tool allows; None allows all."""
    edit = {"name": action["name"], "args": action.get("args", {})}
    decisions: list[dict[str, Any]] = (
        [{"type": "approve"}, {"type": "edit", "edited_action": edit}]
        if approved
        else [{"type": "reject", "message": reason}]
    )
    for decision in [*decisions, {"type": "respond", "message": "Approved." if approved else reason}]:
        if allowed is None or decision["type"] in allowed:
            return decision
    raise ContractError(f"approve: {action['name']} allows only {', '.join(allowed)}: give a function that decides")


def is_unclear(reply: str) -> bool:
    """Whether a reply neither approves nor rejects: it is asked for once more, and the second one rejects."""
    return consent(reply) is None


def question_of(approve: Approve | None, pending: Sequence[Mapping[str, Any]], *, again: bool = False) -> str:
    """What is asked of the user: the questions, and actions that it is to approve; `again`: after an unclear reply."""
    questions = [str(one["question"]) for one in pending if "question" in one]
    lines = [line for one in pending if "question" not in one for line in _in_words(one["value"])]
    if not lines or approve != ASK_USER:
        return "\n".join(questions)
    return "\n".join([*questions, _QUESTION + (_AGAIN if again else ""), *(f"- {line}" for line in lines)])


def _in_words(value: Any) -> list[str]:
    if _is_request(value):
        return [_call_in_words(action) for action in value["action_requests"]]
    if _is_call(value):
        return [_call_in_words(value)]
    if isinstance(value, Mapping):
        return [", ".join(f"{name}: {_text(part)}" for name, part in value.items())]
    return [_text(value)]


def _call_in_words(action: Mapping[str, Any]) -> str:
    arguments = ", ".join(f"{name}: {_text(part)}" for name, part in dict(action.get("args") or {}).items())
    return f"{action['name']} ({arguments})" if arguments else str(action["name"])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(plain_or_text(value), ensure_ascii=False)


def approval_call(approve: Approve, pending: Sequence[Mapping[str, Any]], answers: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a decision: a tool call with the question, the policy and what it decided."""
    values = [one["value"] for one in pending]
    given = [plain_or_text(answers[one["id"]]) for one in pending]
    return {
        "name": INTERRUPT,
        "arguments": asked_arguments(values[0]) if len(values) == 1 else {"value": values},
        "result": {"approve": policy_name(approve), "answer": given[0] if len(given) == 1 else given},
    }


def unanswered_calls(values: Sequence[Any], why: str) -> list[dict[str, Any]]:
    """The record of interrupts without an answer, each as a tool call; `why`: `NO_CHECKPOINTER`, `NO_QUESTION`, ..."""
    error = f"no one can answer the agent: {why}"
    return [{"name": INTERRUPT, "arguments": asked_arguments(value), "error": error} for value in values]


def asked_arguments(value: Any) -> dict[str, Any]:
    """What an interrupt asks, as the arguments of a call in the record."""
    question = plain_or_text(value)
    return question if isinstance(question, dict) else {"value": question}


def _is_request(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and all(isinstance(value.get(key), list) for key in ("action_requests", "review_configs"))
        and all(isinstance(action, Mapping) and "name" in action for action in value["action_requests"])
    )


def _is_call(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "tool_approval" and "name" in value
