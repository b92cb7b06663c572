"""Users and assistants made from people's conversations.

`people:SRC` sends stored messages of people, or of an assistant that answered one, without a model. `MODEL?like=SRC` is a
user whom a chat model writes, with people's turns as few-shot examples.
"""

from .retrieval import FewShotUser, PeopleOptions, PeopleSpeaker, speaker_of, use_of

__all__ = ["FewShotUser", "PeopleOptions", "PeopleSpeaker", "speaker_of", "use_of"]
