"""Sources that a table about sections cannot use."""

from ...data import simquac as simquac_format
from ...data.loading import Loaded
from ..output.sources import lacks


def no_section(loaded: Loaded, command: str) -> str:
    """Why the command cannot use a file; empty if it has a conversation about a section."""
    if any(map(simquac_format.DOMAIN.is_about, loaded)):
        return ""
    return (
        f"{lacks(loaded, 'a section')}: {command} needs SimQuAC or QuAC JSON, teacher topics, "
        "or a run or records of such conversations: give those"
    )
