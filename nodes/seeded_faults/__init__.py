"""Assistants with seeded faults: a good one and three with one fault each, to measure whether users detect them.

They are functions of messages, by rule, without a model: the spec of the good one is
`duologue.nodes.seeded_faults:good`. They serve the tasks of `requests.ERRANDS`, in English and Chinese.
"""

from .assistants import PLANTED, forgetful, good, wordy, wrong

__all__ = ["PLANTED", "forgetful", "good", "wordy", "wrong"]
