"""Who takes part: the state, the node contract, speakers, validators, prompt selectors, chat models."""

from ..errors import ModelError
from . import conformance, models, recllmsim, replay, simquac, stops
from .contract import ContractError, Node, Stop
from .limits import Limits
from .messages import MessageBuilder, fenced, messages_for, plain_messages
from .models import chat_model
from .post_questions import PostQuestions
from .replies import draft
from .requests import Answer, Call, ask, parse_json
from .selectors import Refusal
from .speakers import AgentSpeaker, ChatSpeaker, FunctionSpeaker
from .state import Draft, Place, Prompt, State, Update, Verdict, prompt
from .validators import Observing, accept_all, cut_off, every, validator

__all__ = [
    "AgentSpeaker",
    "Answer",
    "Call",
    "ChatSpeaker",
    "ContractError",
    "Draft",
    "FunctionSpeaker",
    "Limits",
    "MessageBuilder",
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
    "accept_all",
    "ask",
    "chat_model",
    "conformance",
    "cut_off",
    "draft",
    "every",
    "fenced",
    "messages_for",
    "models",
    "parse_json",
    "plain_messages",
    "prompt",
    "recllmsim",
    "replay",
    "simquac",
    "stops",
    "validator",
]
