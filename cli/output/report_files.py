"""The files of a test's result: JUnit XML, Markdown and the run's page."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.files.json_files import write_text
from ...data.formats.record_lines import attempted
from .job_summary import is_shared, write_summary
from .success_report import PAGE, page_address, write_page

if TYPE_CHECKING:
    from ...analysis.outcomes import Crashes
    from ...analysis.testing.plan import PlannedConversation
    from ...analysis.testing.result import Successes


@dataclass(frozen=True)
class ReportFiles:
    """Where the result of a test is written, besides the terminal."""

    suite: str
    """Name of the cast."""
    junit: Path | None
    summary: Path | None
    """The file of Markdown."""
    crashes: "Crashes"

    @property
    def title(self) -> str:
        """The heading of the Markdown."""
        return f"duologue test: {self.suite}"

    def begin(self) -> None:
        """Replace the files of an earlier test by ones that say that this one did not end.

        They stay so if the process is killed. GitHub's job summary is only appended to.
        """
        from ...analysis.testing.junit_report import NOT_ENDED, unended
        from ...analysis.testing.markdown_report import heading

        if self.junit is not None:
            write_text(self.junit, unended(self.suite))
        if self.summary is not None and not is_shared(self.summary):
            write_text(self.summary, heading(self.title, f"not passed ({NOT_ENDED})"))

    def discard_page(self, folder: Path) -> None:
        """Remove the page that an earlier call of this run wrote."""
        from ...views.pages import is_page

        if is_page(folder / PAGE):
            (folder / PAGE).unlink()

    def write(
        self,
        result: "Successes",
        folder: Path,
        plan: Iterable["PlannedConversation"],
        *,
        with_page: bool,
        by_force: bool = False,
    ) -> Path | None:
        """Write all of them; gives the page.

        `by_force`: the process is ended while an agent blocks it.
        """
        from ...analysis.testing.junit_report import NO_RECORD, NOT_BEGUN, junit
        from ...analysis.testing.markdown_report import markdown
        from ...analysis.testing.result_text import summary_line

        page = write_page(folder, result, self.crashes) if with_page else None
        if self.junit is not None:
            text = junit(
                attempted(folder),
                self.suite,
                exclude_user_faults=result.exclude_user_faults,
                addresses={failure.id: page_address(failure.id) for failure in result.failures} if page else {},
                crashes=self.crashes,
                plan=plan,
                without_record=NO_RECORD if by_force else NOT_BEGUN,
                verdict=summary_line(result),
            )
            write_text(self.junit, text)
        if self.summary is not None:
            write_summary(self.summary, markdown(result, self.title, page_address if page else None))
        return page
