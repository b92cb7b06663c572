"""The nodes of the graph: what they read and answer, factories for each place, and the checks of one's own.

What else there is has its module: `nodes.scorers`, `nodes.validators`, `nodes.limits`, `nodes.worlds`, `nodes.people`.
"""

from . import conformance
from .annotators import annotator
from .contract import Node
from .judges import judge, judged
from .limits import Limits
from .models.specs import chat_model
from .prompt_selectors import selector
from .scorers import Score, final_state, scoring, solved, text_contains, tool_called
from .speakers.agents import AgentSpeaker, user
from .state import Draft, State, Update, Verdict, rejected, said
from .validators import every, not_empty, validator

__all__ = [
    "AgentSpeaker", "Draft", "Limits", "Node", "Score", "State", "Update", "Verdict", "annotator", "chat_model",
    "conformance", "every", "final_state", "judge", "judged", "not_empty", "rejected", "said", "scoring", "selector",
    "solved", "text_contains", "tool_called", "user", "validator",
]  # fmt: skip
