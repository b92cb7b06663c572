"""Sources by name, and in words."""

from collections.abc import Sequence
from pathlib import Path

from ...data.loading import Loaded, description_of
from ...errors import at
from ..streams import say


def say_notes(*sources: Loaded, named: bool = False) -> None:
    """Print the notes of sources, with the path of each if there are several or it is to be `named`."""
    for source in sources:
        say(*(f"{source.path}: {note}" if named or len(sources) > 1 else note for note in source.notes))


def lacks(loaded: Loaded, topic: str) -> str:
    """What the path is, how many conversations it has, and that none is about the topic."""
    count = f"with {len(loaded)} conversation{'' if len(loaded) == 1 else 's'}, none about {topic}"
    return f"{at(loaded.path)}: is {description_of(loaded.kind)} {count if len(loaded) else 'without any conversation'}"


def names_of_files(paths: Sequence[Path]) -> list[str]:
    """A name for each path: the file's name where it is unique, else the path, numbered if it repeats."""
    file_names = [path.name or str(path) for path in paths]
    names: list[str] = []
    for path, file_name in zip(paths, file_names, strict=True):
        unique = all(other == path for other, name in zip(paths, file_names, strict=True) if name == file_name)
        name = file_name if unique else str(path)
        earlier = sum(str(other) == str(path) for other in paths[: len(names)])
        names.append(f"{name} ({earlier + 1})" if earlier else name)
    return names
