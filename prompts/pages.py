"""Prompt pages: Markdown files with named gaps, which are checked when they are loaded."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path

from ..data.files.json import read_text
from ..errors import DataError, DuologueError

_GAP = re.compile(r"\{\{\s*([^\W\d]\w*)\s*\}\}")
_ODD = re.compile(r"\{\{|\{%")


class PromptError(DuologueError, ValueError):
    """A prompt page cannot be used: which page, what is wrong, and what to do, in one line."""


@dataclass(frozen=True)
class Page:
    """One prompt: its name, such as `user/guide_other`, and its source with gaps, `{{ name }}`."""

    name: str
    source: str

    @cached_property
    def digest(self) -> str:
        """First 16 hexadecimal digits of the source's SHA-256."""
        return hashlib.sha256(self.source.encode("utf-8")).hexdigest()[:16]

    @cached_property
    def gaps(self) -> frozenset[str]:
        """Names of the gaps."""
        return frozenset(_GAP.findall(self.source))

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """The marks around its material, such as `goal` and `/goal` for `<goal>...</goal>`."""
        names = dict.fromkeys(re.findall(r"</(\w[\w-]*)>", self.source))
        return tuple(f"{end}{name}" for name in names for end in ("", "/"))

    def fill(self, **values: object) -> str:
        """The text with its gaps filled; PromptError if a value is missing or has no gap. Values are not read as pages."""
        if values.keys() != self.gaps:
            raise PromptError(f"prompt {self.name}: {_mismatch(set(values), self.gaps, 'the code', 'the template')}")
        return _GAP.sub(lambda gap: str(values[gap[1]]), self.source).strip()

    def fill_from(self, values: Mapping[str, object]) -> str:
        """The text with its gaps filled; values without a gap are ignored."""
        return self.fill(**{gap: values[gap] for gap in self.gaps if gap in values})

    def check(self, where: str = "") -> None:
        """Raise PromptError if braces stand in it that are no gap; `where`: its file."""
        rest = _GAP.sub(lambda gap: "\n" * gap[0].count("\n"), self.source)
        if odd := _ODD.search(rest):
            line = rest.count("\n", 0, odd.start()) + 1
            raise PromptError(
                f"{where or f'prompt {self.name}'}: line {line}: {odd[0]} begins no gap: write {{{{ name }}}}"
            )


@dataclass(frozen=True)
class Library:
    """The pages of one cast in one language, by name."""

    pages: Mapping[str, Page]

    def __getitem__(self, name: str) -> Page:
        try:
            return self.pages[name]
        except KeyError:
            raise PromptError(
                f"prompt {name}: there is no such template, only {', '.join(sorted(self.pages))}"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self.pages

    @property
    def digests(self) -> dict[str, str]:
        """Digest of every page by name, for records."""
        return {name: self.pages[name].digest for name in sorted(self.pages)}

    def replaced(self, folder: str | Path) -> "Library":
        """This library with the pages of a folder instead of those with the same names.

        A page must have the gaps of the one that it replaces; PromptError names a file with others, or one that
        replaces no page. Only questions after the conversation (`user/post_...`) may be new.
        """
        pages = dict(self.pages)
        for name, file in _page_files(folder, "name files as the shipped ones, such as").items():
            family = name.partition("/post_")[0] + "/post_"
            if name in pages:
                gaps, giver = pages[name].gaps, "the shipped template"
            elif name.startswith(family) and any(key.startswith(family) for key in self.pages):
                gaps, giver = frozenset[str](), "a question"
            else:
                raise PromptError(f"{file}: replaces no template; there are {', '.join(sorted(self.pages))}")
            pages[name] = _read(name, file)
            if pages[name].gaps != gaps:
                raise PromptError(f"{file}: {_mismatch(set(gaps), pages[name].gaps, giver, 'this template')}")
        return Library(pages)


def library(folder: str | Path) -> Library:
    """The library of your own folder: each file `<side>/<page>.md` is the page `<side>/<page>`."""
    page_files = _page_files(folder, "write files such as")
    return Library({name: _read(name, file) for name, file in page_files.items()})


def _page_files(folder: str | Path, advice: str) -> dict[str, Path]:
    root = Path(folder)
    if not root.is_dir():
        raise PromptError(f"{root}: is not a folder of prompt templates: give one with files such as user/system.md")
    page_files = sorted(file for file in root.rglob("*.md") if file.name != "README.md")
    if not page_files:
        raise PromptError(f"{root}: holds no template: {advice} user/system.md")
    return {file.relative_to(root).with_suffix("").as_posix(): file for file in page_files}


@cache
def shipped(cast: str, language: str = "en") -> Library:
    """The package's library of a cast, such as `shipped("simquac")`; it is read once in a process, as its code is."""
    with as_file(files("duologue.prompts").joinpath(cast, language)) as folder:
        if not folder.is_dir():
            raise PromptError(f"there are no prompts for {cast!r} in {language!r}")
        return library(folder)


def _read(name: str, file: Path) -> Page:
    try:
        page = Page(name, read_text(file).replace("\r\n", "\n"))
    except DataError as error:
        raise PromptError(str(error)) from None
    if not page.source.strip():
        raise PromptError(f"{file}: is empty: write the prompt or delete the file")
    page.check(str(file))  # what it is filled with is known to whoever asks for it
    return page


def _mismatch(available: set[str], required: frozenset[str], giver: str, asker: str) -> str:
    (odd, *_), has = sorted(required ^ available), "does not have" if required - available else "has"
    verb = "has" if required - available else "lacks"
    return f"{asker} {verb} the template variable {{{{ {odd} }}}} that {giver} {has}"
