"""`duologue label` for real: a server, a browser, two conversations labelled by keys from end to end."""

import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from duologue import data, labelling
from duologue.data import Conversation, Message
from duologue.runs.people_labels import AnswerFiles, answers_of
from duologue.runs.store import BusyError

pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("browser")]
PAGE = "---\ntitle: What happened\nunit: conversation\nvalues: [good, fair, bad]\n---\ngood: done. bad: not done.\n"
WAIT = 120_000
"""Milliseconds: a machine may be busy; what never comes is seen all the same."""


@pytest.fixture
def command(tmp_path):
    """What starts the command, a process of its own that Ctrl-C ends: the process and the address of its page."""
    pytest.importorskip("streamlit", reason='streamlit is not installed: pip install "duologue[ui]"')
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "outcome.md").write_text(PAGE)
    messages: tuple[Message, ...] = (
        Message(role="user", text="<script>alert(1)</script><img src='http://evil.test/x'> hello </article>"),
    )
    messages += tuple(Message(role="assistant", text=f"{number} " + "word " * 200) for number in range(3))
    conversations = [Conversation(id=f"{n}abc", scenario={"kind": "x"}, messages=messages) for n in range(2)]
    data.record_lines.write(conversations, tmp_path / "talks.jsonl")
    started = []

    def start(labels="outcome", runner=None):
        words = ["label", "talks.jsonl", "--labels", labels, "--labels-dir", "pages", "--as", "ann"]
        process = subprocess.Popen(
            [*([runner] if runner else [sys.executable, "-m", "duologue.cli"]), *words],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        address = process.stdout.readline().strip()
        until(lambda: listens(urlsplit(address).port))
        return process, address

    yield start
    for process in started:
        process.send_signal(signal.SIGINT)
        process.wait()
        process.stdout.close()


def opened(browser, address, **options):
    """The page in a window of a size, once its server answers."""
    page = browser.new_page(**options)
    page.set_default_timeout(WAIT)
    page.goto(address)
    return page


def listens(port):
    with closing(socket.socket()) as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def until(condition):
    """Wait for it; the test fails if it never comes."""
    for _ in range(WAIT // 100):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("it never came")


def test_two_conversations_are_labelled_by_keys_and_saved(command, browser, tmp_path):
    _, served = command()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", served)
    requests, dialogs = [], []
    page = opened(browser, served, viewport={"width": 1400, "height": 900})
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))  # the test fails then; nobody need dismiss it
    page.reload()
    for done, (key, chosen) in enumerate((("1", "good"), ("3", "bad"))):
        page.get_by_text(f"{done} of 2 labelled as ann").wait_for()
        page.locator("button[kind=primary]", has_text="good").wait_for(state="detached")  # of the one before
        page.get_by_role("button", name=re.compile("^good")).wait_for()
        assert page.get_by_text("<script>alert(1)</script>").count() == 1
        page.keyboard.press(key)
        page.locator("button[kind=primary]", has_text=chosen).wait_for()
        page.get_by_role("button", name="Save", disabled=False).wait_for()
        page.keyboard.press("Enter")
    page.get_by_text("All 2 are labelled").wait_for()
    assert [answer.value for answer in answers_of(tmp_path / "answers")["ann"]] == [
        {"outcome": "good"},
        {"outcome": "bad"},
    ]
    page.keyboard.press("u")
    page.get_by_text("1 of 2 labelled as ann").wait_for()
    assert [answer.value for answer in answers_of(tmp_path / "answers")["ann"]] == [{"outcome": "good"}]
    assert dialogs == []
    assert {url.split("/")[2] for url in requests if not url.startswith(("data:", "blob:"))} == {served.split("/")[2]}
    page.close()


CHILD = "asyncio duologue json shutil socket starlette streamlit typing uvicorn pydantic numpy secrets http importlib".split()
"""Modules that the server imports, and more."""


def test_nothing_of_the_working_folder_is_run_or_obeyed_and_nobody_without_the_address_is_answered(
    command, browser, tmp_path
):
    before = {*Path(labelling.__file__).parent.rglob("[!_]*")}
    for name in CHILD:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r} + ' ')\n")
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text(
        "[server]\nenableCORS = false\n[browser]\ngatherUsageStats = true\n"
        '[theme]\nfont = "Evil:https://evil.example/font.css"\n'
    )
    _, served = command(runner=Path(sys.executable).with_name("duologue"))
    page = browser.new_page()
    page.set_default_timeout(WAIT)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(served)
    page.get_by_text("0 of 2 labelled as ann").wait_for()
    assert {urlsplit(url).netloc for url in requests if url.startswith("http")} == {urlsplit(served).netloc}
    assert {*Path(labelling.__file__).parent.rglob("[!_]*")} == before
    assert not (tmp_path / "ran").exists()
    page.goto(served.partition("?")[0])
    page.get_by_text("Open the address that the command printed").wait_for()
    here = urlsplit(served).netloc
    for host, origin, status in (
        (here, f"http://{here}", 101),
        (here, "http://evil.example", 403),
    ):
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        upgrade |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Host": host, "Origin": origin}
        with closing(HTTPConnection(here)) as connection:
            connection.request("GET", "/_stcore/stream", headers=upgrade)
            assert connection.getresponse().status == status, (host, origin)
    for path in ("/", "/_stcore/stream", "/_stcore/health", "/favicon.png"):
        with closing(HTTPConnection(here)) as connection:
            connection.request("GET", path, headers={"Host": "evil.example"})
            assert connection.getresponse().status == 400
    page.close()


def test_a_command_that_is_killed_takes_its_server_along_and_the_answers_are_free_again(command, browser, tmp_path):
    process, served = command()
    port = urlsplit(served).port
    page = opened(browser, served)
    page.get_by_text("0 of 2 labelled as ann").wait_for()
    assert listens(port)
    with pytest.raises(BusyError, match="ann has another page open"):
        AnswerFiles(tmp_path / "answers", "ann")
    process.kill()
    until(lambda: not listens(port))
    AnswerFiles(tmp_path / "answers", "ann").close()
    page.close()
