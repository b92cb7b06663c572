"""Who takes part: the state, the node contract, speakers, validators, prompt selectors, chat models."""

from . import conformance, models, recllmsim, replay, simquac, stops
from .contract import ContractError, Node, Stop
from .limits import Limits
from .messages import View, fenced, messages_for
from .models import ModelError, chat_model
from .post_questions import PostQuestions
from .requests import Answer, Call, ask, parse_json
from .selectors import Refusal
from .speakers import AgentSpeaker, ChatSpeaker, FunctionSpeaker, draft
from .state import Draft, Place, Prompt, State, Update, Verdict, prompt
from .validators import Observing, accept_all, every, validator

__all__ = [
    "AgentSpeaker",
    "Answer",
    "Call",
    "ChatSpeaker",
    "ContractError",
    "Draft",
    "FunctionSpeaker",
    "Limits",
    "ModelError",
    "Node",
    "Observing",
    "Place",
    "PostQuestions",
    "Prompt",
    "Refusal",
    "State",
    "Stop",
    "Update",
    "Verdict",
    "View",
    "accept_all",
    "ask",
    "chat_model",
    "conformance",
    "draft",
    "every",
    "fenced",
    "messages_for",
    "models",
    "parse_json",
    "prompt",
    "recllmsim",
    "replay",
    "simquac",
    "stops",
    "validator",
]
