"""The result of `duologue test`: printed, the verdict first, and written as JUnit XML, as Markdown and as the run's page."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..data.files.json import read_json, write_text
from ..data.formats.record_lines import attempted
from ..data.formats.source import MANIFEST, PAGE
from ..data.text.terminal import on_one_line
from ..errors import DataError, DuologueError, at
from .printing import check_apart, print_json, put, say, shown, stdout

if TYPE_CHECKING:
    from ..analysis.testing.success import PlannedConversation, Successes
    from ..data.records import Conversation


@dataclass(frozen=True)
class Reports:
    """Where the result of a test is written, besides the terminal."""

    suite: str
    """Name of the cast."""
    junit: Path | None
    summary: Path | None
    """The file of Markdown."""

    def check(self, *sources: object) -> None:
        """DataError for a file that is a source of the test, or a folder."""
        for file in (self.junit, self.summary):
            check_apart(file, *sources)
            if file is not None and file.is_dir():
                raise DataError(f"{at(file)}: is a folder: name a file in it")

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Inside, the files say that the test did not end, as they do if it is killed; then why it did not begin."""
        from ..analysis.testing.junit import NOT_ENDED

        self._instead(NOT_ENDED)
        try:
            yield
        except DuologueError as error:
            self._instead(f"did not begin: {shown(' '.join(str(error).split()))}")
            raise

    def _instead(self, line: str) -> None:
        from ..analysis.testing.junit import unended
        from ..analysis.testing.report import heading

        if self.junit is not None:
            write_text(self.junit, unended(self.suite, line))
        if self.summary is not None and not self._is_shared:
            write_text(self.summary, heading(self._title, f"not passed ({line})"))

    def write(
        self,
        result: "Successes",
        folder: Path,
        plan: "Iterable[PlannedConversation]",
        old: "Iterable[Conversation] | None",
    ) -> dict[str, Path]:
        """Write all of them; gives the paths of the pages. `old`: the conversations of the other version."""
        from .. import views
        from ..analysis.testing.junit import junit
        from ..analysis.testing.pairs import paired_properties
        from ..analysis.testing.report import group_line, markdown, summary_line
        from ..views.run import PAIRS_PAGE

        name, pages = folder.resolve().name, {"page": folder / PAGE}
        manifest = read_json(folder / MANIFEST)
        write_text(pages["page"], views.run_page(tuple(attempted(folder)), name, manifest=manifest, result=result))
        if old is not None and result.against is not None:
            pages["pairs"] = folder / PAIRS_PAGE
            title = f"{name} in pairs with {result.against.old_name}"
            write_text(pages["pairs"], views.pairs_page(result.against, old, attempted(folder), title=title))
        if self.junit is not None:
            notes = [*(group_line(group, result) for group in result.groups), *result.notes]
            paired = {} if result.against is None else paired_properties(result.against)
            text = junit(
                attempted(folder),
                self.suite,
                addresses={failure.id: _beside(failure.id) for failure in result.failures},
                plan=plan,
                notes=notes,
                properties={"verdict": summary_line(result), **paired},
            )
            write_text(self.junit, text)
        if self.summary is not None:
            text = markdown(result, self._title, _beside)
            if self._is_shared:
                with self.summary.open("a", encoding="utf-8", newline="\n") as opened:
                    opened.write(text)
            else:
                write_text(self.summary, text)
        return pages

    @property
    def _title(self) -> str:
        return f"duologue test: {self.suite}"

    @property
    def _is_shared(self) -> bool:
        """Whether the summary is GitHub's, into which other steps of a job write too: it is only appended to."""
        shared = os.environ.get("GITHUB_STEP_SUMMARY")  # noqa: TID251 - not a setting of Duologue's
        return bool(shared) and self.summary is not None and Path(str(shared)).resolve() == self.summary.resolve()


def give_result(result: "Successes", folder: Path, pages: dict[str, Path], as_json: bool, **about: Any) -> None:
    """Print the result, for people the verdict first; each failure has its address on the page."""
    from ..analysis.testing.report import TERMINAL, Line, headline, report

    if as_json:
        plain: dict[str, Any] = result.model_dump(mode="json")
        for failure in plain["failures"] if pages else ():
            failure["page"] = _address(pages["page"], failure["id"])
        places = {name: str(path) for name, path in pages.items()}
        print_json({"out": str(folder), **places, **about, **plain})
        say(*headline(result.model_copy(update={"resume": ""})))
        return
    for part in report(result, TERMINAL):
        if not isinstance(part, Line):
            stdout.print(part.rich())
            continue
        put({"item": "  ", "detail": "    "}.get(part.kind, "") + on_one_line(part.text))
        if part.conversation:
            place = _address(pages["page"], part.conversation, part.message) if pages else part.place
            put(f"    shortest: {place}")
    put(*(f"{name}: {path}" for name, path in {"run": folder, **pages}.items()))
    say(*result.advice)


def _address(page: Path, conversation: str, message: int | None = None) -> str:
    """Where a conversation, or one of its messages, stands on the page."""
    return f"{page.resolve().as_uri()}#{quote(conversation)}{'' if message is None else f'/{message}'}"


def _beside(conversation: str) -> str:
    """The same for a file that travels with the run folder: relative to it."""
    return f"{PAGE}#{quote(conversation)}"
