"""Speakers made from people: each message is one that a person (or whoever answered one) has written elsewhere.

`people:SRC` stands in a cast's place of the user or of the assistant. No model is called.
"""

from .choice import Weights
from .options import PeopleOptions, people_path
from .speaker import DonorEnded, PeopleSpeaker

__all__ = ["DonorEnded", "PeopleOptions", "PeopleSpeaker", "Weights", "people_path"]
