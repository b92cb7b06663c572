"""The files of a test's result: JUnit XML, Markdown and the run's page."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from ...data.files.json import write_text
from ...data.formats.record_lines import attempted
from ...data.formats.source import MANIFEST, PAGE
from ...errors import DuologueError
from ..streams import BAD_INPUT, shown
from .job_summary import is_shared, write_summary
from .success_report import page_address, write_page

if TYPE_CHECKING:
    from ...analysis.testing.success import PlannedConversation, Successes
    from ...data.records import Conversation


@dataclass(frozen=True)
class ReportFiles:
    """Where the result of a test is written, besides the terminal."""

    suite: str
    """Name of the cast."""
    junit: Path | None
    summary: Path | None
    """The file of Markdown."""

    @property
    def title(self) -> str:
        """The heading of the Markdown."""
        return f"duologue test: {self.suite}"

    @contextmanager
    def begun(self, out: Path | None) -> Iterator[None]:
        """Inside, the files report a test that did not end, and there is no page of an earlier call.

        They stay so if the process is killed. If the run does not begin they say why, and the files of the run that
        `out` holds are put back. GitHub's job summary is only appended to.
        """
        from ...analysis.testing.junit import NOT_ENDED
        from ...views.pages import is_page

        manifest = out and out / MANIFEST
        page = out and out / PAGE
        before = _version(manifest)
        summary = None if self.summary is None or is_shared(self.summary) else self.summary
        paths = [path for path in (self.junit, summary, page) if path is not None and path.is_file()]
        earlier = {path: path.read_bytes() for path in paths} if before else {}
        again = "" if out is None else f": continue: the same command with --out {quote(str(out))}"
        self._say_instead(NOT_ENDED + again, summary)
        if page is not None and is_page(page):
            page.unlink()
        try:
            yield
        except BaseException as error:
            if _version(manifest) == before:
                if isinstance(error, DuologueError) and error.exit_code == BAD_INPUT:
                    self._say_instead(f"did not begin: {shown(' '.join(str(error).split()))}", self.summary)
                for path, content in earlier.items():
                    path.write_bytes(content)
            raise

    def _say_instead(self, line: str, summary: Path | None) -> None:
        """Write a line in place of a result, to the summary of this path."""
        from ...analysis.testing.junit import unended
        from ...analysis.testing.report import heading

        if self.junit is not None:
            write_text(self.junit, unended(self.suite, line))
        if summary is not None:
            write_summary(summary, heading(self.title, f"not passed ({line})"))

    def write(
        self,
        result: "Successes",
        folder: Path,
        plan: Iterable["PlannedConversation"],
        *,
        with_page: bool,
        old: "Iterable[Conversation] | None" = None,
        ending: str = "",
    ) -> "WrittenReports":
        """Write all of them, with the page of the pairs where there is an `old` version.

        `ending`: why the run ended, for what it cut short.
        """
        from ...analysis.testing.junit import junit
        from ...analysis.testing.pairs import paired_properties
        from ...analysis.testing.report import group_line, markdown, summary_line

        page, pairs, problems = None, None, list[str]()
        with _noting(problems):
            page = write_page(folder, result) if with_page else None
        if old is not None and with_page:
            with _noting(problems):
                pairs = page_of_pairs(result, folder, old)
        if self.junit is not None:
            text = junit(
                attempted(folder),
                self.suite,
                addresses={failure.id: page_address(failure.id) for failure in result.failures} if page else {},
                plan=plan,
                ending=ending,
                notes=[*(group_line(group, result) for group in result.groups), *result.notes],
                properties={
                    "verdict": summary_line(result),
                    **(paired_properties(result.against) if result.against is not None else {}),
                },
            )
            with _noting(problems):
                write_text(self.junit, text)
        if self.summary is not None:
            with _noting(problems):
                write_summary(self.summary, markdown(result, self.title, page_address if page else None))
        return WrittenReports(page, pairs, problems)


class WrittenReports(NamedTuple):
    """Which reports of a test are written."""

    page: Path | None
    pairs: Path | None
    """The page of the pairs."""
    problems: list[str]
    """Why others could not be written, a line each."""


def page_of_pairs(result: "Successes", folder: Path, old: "Iterable[Conversation]") -> Path:
    """Write the page of the pairs into the folder of the new version's run."""
    from ...views.pairs import pairs_page
    from ...views.run import PAIRS_PAGE

    assert result.against is not None
    page = folder / PAIRS_PAGE
    title = f"{folder.resolve().name} in pairs with {result.against.old_name}"
    write_text(page, pairs_page(result.against, old, attempted(folder), title=title))
    return page


@contextmanager
def _noting(problems: list[str]) -> Iterator[None]:
    """Note why a file cannot be written: the others are written, and the result is printed."""
    try:
        yield
    except (DuologueError, OSError) as error:
        problems.append(str(error))


def _version(manifest: Path | None) -> tuple[int, int] | None:
    """What differs once a run has begun, which writes its manifest anew; None without one."""
    if manifest is None or not manifest.is_file():
        return None
    status = manifest.stat()
    return status.st_ino, status.st_mtime_ns
