"""Who takes part: the state, the node contract, speakers, validators, prompt selectors, chat models."""

from . import conformance, models, recllmsim, replay, simquac, stops
from .asking import PostQuestions
from .contract import ContractError, Node, Stop
from .limits import Limits
from .models import ModelError, chat_model
from .speaking import AgentSpeaker, ChatSpeaker, FunctionSpeaker, draft
from .state import Draft, Place, Prompt, State, Update, Verdict, prompt
from .validating import Observing, accept_all, every, validator
from .views import View, fenced, messages_for

__all__ = [
    "AgentSpeaker",
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
    "State",
    "Stop",
    "Update",
    "Verdict",
    "View",
    "accept_all",
    "chat_model",
    "conformance",
    "draft",
    "every",
    "fenced",
    "messages_for",
    "models",
    "prompt",
    "recllmsim",
    "replay",
    "simquac",
    "stops",
    "validator",
]
