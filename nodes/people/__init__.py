"""Retrieval-based speakers: each message is a stored one of a person, or of an assistant that answered one.

`people:SRC` is a user or an assistant of a cast, without a model. `PROVIDER:NAME?like=SRC` and `?rewrite=SRC` are
users whom a chat model writes: with people's turns as few-shot examples, or by retrieve and edit.
"""

from .choice import ChoiceWeights
from .modelled import FewShotUser, RewritePeople, WithPeople, of_spec
from .options import PeopleOptions, people_path
from .speaker import DonorEnded, PeopleSpeaker
from .specs import rewrites, shown_path, source_path

__all__ = [
    "ChoiceWeights",
    "DonorEnded",
    "FewShotUser",
    "PeopleOptions",
    "PeopleSpeaker",
    "RewritePeople",
    "WithPeople",
    "of_spec",
    "people_path",
    "rewrites",
    "shown_path",
    "source_path",
]
