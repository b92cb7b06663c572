"""The nodes of the graph: state, contract, speakers, validators, prompt selectors, chat models."""

from ..errors import ModelError
from . import conformance, models, people, recllmsim, scorers, simquac, stops, worlds
from .annotators import Annotator, annotator
from .calls.service import drafted
from .calls.store import Call
from .contract import ContractError, Node, Stop
from .goodbyes import Ending
from .judges import Opinion, ask_judge, judge, request_page, values_about
from .limits import Limits
from .messages.building import MessageBuilder, PageMessages, Talk, fenced, messages_for, plain_messages
from .messages.selectors import Refusal, RepairPrompts, selector
from .models import chat_model
from .recllmsim.roles import UserValidator
from .replies.conversion import draft
from .requests import RequestAnswer, ask, parse_json
from .scorers import (
    Score,
    Scorer,
    agent_channels,
    all_of,
    any_of,
    final_state,
    judged,
    negated,
    refused,
    scoring,
    solved,
    success,
    text_contains,
    tool_called,
)
from .scorers.post_questions import PostQuestions
from .speakers import replay
from .speakers.agents import AgentSpeaker
from .speakers.speaker import ChatSpeaker, FunctionSpeaker
from .state import Draft, NodePlace, Prompt, State, Update, Verdict, prompt, rejected, said
from .validators import Observing, accept_all, cut_off, every, judges_flaws, not_empty, validator
from .worlds import Context

__all__ = [
    "AgentSpeaker",
    "Annotator",
    "Call",
    "ChatSpeaker",
    "Context",
    "ContractError",
    "Draft",
    "Ending",
    "FunctionSpeaker",
    "Limits",
    "MessageBuilder",
    "ModelError",
    "Node",
    "NodePlace",
    "Observing",
    "Opinion",
    "PageMessages",
    "PostQuestions",
    "Prompt",
    "Refusal",
    "RepairPrompts",
    "RequestAnswer",
    "Score",
    "Scorer",
    "State",
    "Stop",
    "Talk",
    "Update",
    "UserValidator",
    "Verdict",
    "accept_all",
    "agent_channels",
    "all_of",
    "annotator",
    "any_of",
    "ask",
    "ask_judge",
    "chat_model",
    "conformance",
    "cut_off",
    "draft",
    "drafted",
    "every",
    "fenced",
    "final_state",
    "judge",
    "judged",
    "judges_flaws",
    "messages_for",
    "models",
    "negated",
    "not_empty",
    "parse_json",
    "people",
    "plain_messages",
    "prompt",
    "recllmsim",
    "refused",
    "rejected",
    "replay",
    "request_page",
    "said",
    "scorers",
    "scoring",
    "selector",
    "simquac",
    "solved",
    "stops",
    "success",
    "text_contains",
    "tool_called",
    "validator",
    "values_about",
    "worlds",
]
