"""Which behaviours a conversation's user has: those of its scenario, of an option, or a draw by share."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...errors import SettingError
from ..attempts import is_object
from ..identity import digest
from .kinds import KEY, PLAIN, checked_names


class UserKind(NamedTuple):
    """One kind of user: its behaviours, and for each the share of its conversations that have it."""

    shares: Mapping[str, float]

    def drawn(self, *of: object) -> list[str]:
        """The behaviours of the conversation that `of` names."""
        return [
            name
            for name, share in self.shares.items()
            if share >= 1 or int(digest("behaviour", name, *of)[:12], 16) / 16**12 < share
        ]


def chosen_users(texts: Sequence[str], where: str = "--behaviour") -> list[UserKind]:
    """The kinds of users that an option names: `impatient,incomplete`, `impatient=0.3`, or `plain`.

    SettingError for an unknown name, a wrong share, or the same kind twice.
    """
    kinds = [_user(text, where) for text in texts]
    for number, kind in enumerate(kinds):
        if kind in kinds[:number]:
            raise SettingError(f"{where}: {texts[number]!r} is given twice: give each kind of user once")
    return kinds


def _user(text: str, where: str) -> UserKind:
    pieces = [piece.strip() for piece in text.split(",")]
    if pieces == [PLAIN]:
        return UserKind({})
    shares: dict[str, float] = {}
    for piece in pieces:
        name, equals, share = (part.strip() for part in piece.partition("="))
        if name == PLAIN:
            raise SettingError(f"{where}: {PLAIN!r} is a user without behaviours: give it without others")
        checked_names([name], where)
        if name in shares:
            raise SettingError(f"{where}: {name!r} is given twice: give it once")
        shares[name] = _share(share, f"{where}: {piece!r}") if equals else 1.0
    return UserKind(dict(sorted(shares.items())))


def _share(text: str, where: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise SettingError(f"{where}: expected a share from 0 to 1 after '='")
    return share


def behaviours_in(scenario: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """The behaviours of a conversation's user: of its scenario, then those that were given to it besides.

    SettingError for unknown names.
    """
    names: list[str] = []
    for place in (scenario, extra or {}):
        value = place.get(KEY, [])
        if is_object(value) or not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise SettingError(f'{KEY}: expected a list of names, such as ["impatient"]')
        names += value
    return checked_names(names, KEY)
