"""The ledger of test-set access: each comparison with the test split is written down before it is made."""

from pathlib import Path

from ...data.identity import digest
from ...data.people.splits import UserPart, of_part, user_of
from ...data.records import Conversation
from ...data.tuning import AccessToTestSet
from ..asking.store import codec_of
from ..journals.journal import Journal

LEDGER = "openings.jsonl"


def opened(
    folder: Path, what: tuple[str, ...], people: list[Conversation], part: UserPart = "test"
) -> tuple[AccessToTestSet, int]:
    """Write down a test-set access to these people's part; gives it with the number of accesses so far.

    `what`: digests of the settings that are judged. It holds no date and no name.
    """
    people_of_part = [one for one in people if of_part(one, part)]
    with Journal.open(folder / LEDGER, CODEC, busy=folder) as ledger:
        number = sum(1 for _ in ledger.iterate()) + 1
        opening = AccessToTestSet(
            number=number,
            what=what,
            people=digest_of(people_of_part),
            users=len({user_of(one) for one in people_of_part}),
        )
        ledger.append(opening)
    return opening, number


def digest_of(people: list[Conversation]) -> str:
    """Digest of these conversations' users and messages."""
    return digest([(user_of(one), [(message.role, message.text) for message in one.messages]) for one in people])[:16]


CODEC = codec_of(
    AccessToTestSet,
    lambda opening: str(opening.number),
    "is not a test-set access: choose another folder",
    lambda opening: False,
)
