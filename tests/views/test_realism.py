"""The page of the realism report: every text escaped, no network, and a notebook shows it."""

import pytest

pytest.importorskip("sklearn")
from IPython.core.interactiveshell import InteractiveShell

from duologue import views
from duologue.analysis.realism import compare
from duologue.data import Conversation, Message
from duologue.views.realism import effects, write


def side(name: str, words: str) -> list[Conversation]:
    return [
        Conversation(
            id=f"<b>{name}{number}",
            scenario={"user": f"{name}{number}"},
            messages=(Message(role="user", text=f"{words} {number}"), Message(role="assistant", text="Yes.")),
        )
        for number in range(8)
    ]


def test_the_page_and_the_notebook_show_the_report(tmp_path):
    report = compare(side("s", "Thank you <script>"), side("h", "ok"), examples=1)
    write(report, tmp_path, name="<b>mine</b>", against="people")
    text = (tmp_path / "report.html").read_text()
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "<b>" not in text
    assert "<svg" in text
    assert "&lt;script&gt;" in text
    assert effects(report).text.count("\n") == len(report.rows) - 1
    shell = InteractiveShell()
    views.load_ipython_extension(shell)
    html = shell.display_formatter.format(report)[0]["text/html"]
    assert html.startswith("<style>")
    assert "simulated against people" in html
