"""Prompt pages: one Markdown file each, with named gaps, checked when they are loaded."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, meta
from jinja2.sandbox import SandboxedEnvironment

from ..errors import DuologueError


class PromptError(DuologueError, ValueError):
    """A prompt page that cannot be used: one line that says which, what, and what to do."""


@lru_cache(maxsize=1)
def _environment() -> SandboxedEnvironment:
    # Sandboxed and without loader: a page can show its gaps and reach nothing else. Values are data; what
    # looks like template syntax inside them stays as it is.
    return SandboxedEnvironment(undefined=StrictUndefined, autoescape=False)


@dataclass(frozen=True)
class Page:
    """One prompt: its name, such as `user/guide_other`, and its source with `{{ gaps }}`."""

    name: str
    source: str

    @cached_property
    def digest(self) -> str:
        """First 16 hexadecimal digits of the source's SHA-256."""
        return hashlib.sha256(self.source.encode("utf-8")).hexdigest()[:16]

    @cached_property
    def gaps(self) -> frozenset[str]:
        """Names of the values that the page asks for."""
        return frozenset(meta.find_undeclared_variables(_environment().parse(self.source)))

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """The marks that its material stands between, such as `goal` and `/goal` of `<goal>...</goal>`."""
        names = dict.fromkeys(re.findall(r"</(\w[\w-]*)>", self.source))
        return tuple(f"{end}{name}" for name in names for end in ("", "/"))

    @cached_property
    def _template(self) -> Any:
        return _environment().from_string(self.source)

    def __getstate__(self) -> dict[str, Any]:
        # What is compiled from the source is compiled again where the page arrives.
        return {"name": self.name, "source": self.source}

    def fill(self, **values: object) -> str:
        """The page with its gaps filled; PromptError if a value is missing or has no gap."""
        if values.keys() != self.gaps:
            raise PromptError(f"prompt {self.name}: {_mismatch(set(values), self.gaps, 'the code', 'the page')}")
        try:
            return str(self._template.render(**values)).strip()
        except Exception as error:  # pages are somebody's own files: whatever they do wrong is theirs
            problem = " ".join(f"{type(error).__name__}: {error}".split())
            raise PromptError(f"prompt {self.name}: cannot be filled ({problem}): use plain {{{{ gaps }}}}") from None

    def fill_from(self, values: Mapping[str, object]) -> str:
        """The page filled from a larger choice of values."""
        return self.fill(**{gap: values[gap] for gap in self.gaps if gap in values})


@dataclass(frozen=True)
class Library:
    """The pages of one cast in one language, by name."""

    pages: Mapping[str, Page]

    def __getitem__(self, name: str) -> Page:
        try:
            return self.pages[name]
        except KeyError:
            raise PromptError(f"prompt {name}: there is no such page, only {', '.join(sorted(self.pages))}") from None

    def __contains__(self, name: object) -> bool:
        return name in self.pages

    @property
    def digests(self) -> dict[str, str]:
        """Digest of every page by name: what a record says of its prompts."""
        return {name: self.pages[name].digest for name in sorted(self.pages)}

    def replaced(self, folder: str | Path) -> "Library":
        """This library with the pages of a folder in place of those with the same names.

        A page must have the gaps of the one that it replaces; PromptError names the file that has others,
        and a file that replaces nothing. Questions to put afterwards (`user/post_...`) may also be new.
        """
        place = Path(folder)
        if not place.is_dir():
            raise PromptError(f"{place}: is no folder of prompt pages: give one with files such as user/system.md")
        pages = dict(self.pages)
        found = sorted(file for file in place.rglob("*.md") if file.name != "README.md")
        if not found:
            raise PromptError(f"{place}: holds no page: name files as the shipped ones, such as user/system.md")
        for file in found:
            name = file.relative_to(place).with_suffix("").as_posix()
            family = name.partition("/post_")[0] + "/post_"
            if name not in pages and name.startswith(family) and any(one.startswith(family) for one in self.pages):
                pages[name] = _read(name, file, str(file))
                if pages[name].gaps:
                    raise PromptError(f"{file}: {_mismatch(set(), pages[name].gaps, 'a question', 'this page')}")
                continue
            if name not in pages:
                raise PromptError(f"{file}: replaces no page; there are {', '.join(sorted(self.pages))}")
            page = _read(name, file, str(file))
            if page.gaps != pages[name].gaps:
                problem = _mismatch(set(pages[name].gaps), page.gaps, "the shipped page", "this page")
                raise PromptError(f"{file}: {problem}")
            pages[name] = page
        return Library(pages)


def library(folder: str | Path) -> Library:
    """The pages of a folder of one's own: `<side>/<page>.md`, each named by its path without the ending."""
    root = Path(folder)
    if not root.is_dir():
        raise PromptError(f"{root}: is no folder of prompt pages: give one with files such as user/system.md")
    files = sorted(file for file in root.rglob("*.md") if file.name != "README.md")
    if not files:
        raise PromptError(f"{root}: holds no page: write files such as user/system.md")
    names = {file: file.relative_to(root).with_suffix("").as_posix() for file in files}
    return Library({name: _read(name, file, str(file)) for file, name in names.items()})


def shipped(cast: str, language: str = "en") -> Library:
    """The library that comes with a cast, such as `shipped("simquac")`."""
    root = files("duologue.prompts").joinpath(cast, language)
    if not root.is_dir():
        raise PromptError(f"there are no prompts for {cast!r} in {language!r}")
    pages = {}
    for side in sorted(root.iterdir(), key=lambda entry: entry.name):
        for entry in sorted(side.iterdir(), key=lambda entry: entry.name):
            name = f"{side.name}/{entry.name.removesuffix('.md')}"
            pages[name] = _read(name, entry, name)
    return Library(pages)


def _read(name: str, entry: Any, where: str) -> Page:
    try:
        page = Page(name, entry.read_text(encoding="utf-8-sig").replace("\r\n", "\n"))
        _ = page.gaps
    except TemplateSyntaxError as error:
        raise PromptError(f"{where}: line {error.lineno}: {error.message}: write gaps as {{{{ name }}}}") from None
    except UnicodeDecodeError:
        raise PromptError(f"{where}: is not UTF-8: save it as UTF-8") from None
    except OSError as error:
        raise PromptError(f"{where}: cannot be read ({error.strerror}): check the file") from None
    if not page.source.strip():
        raise PromptError(f"{where}: is empty: write the prompt or delete the file")
    return page


def _mismatch(given: set[str], asked: frozenset[str], giver: str, asker: str) -> str:
    parts = []
    if asked - given:
        parts.append(f"{asker} has the gap {_names(asked - given)} that {giver} does not have")
    if given - asked:
        parts.append(f"{asker} lacks the gap {_names(given - asked)} that {giver} has")
    return " and ".join(parts)


def _names(gaps: set[str] | frozenset[str]) -> str:
    return ", ".join(f"{{{{ {gap} }}}}" for gap in sorted(gaps))
