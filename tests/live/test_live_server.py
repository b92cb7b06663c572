"""The server of a growing run's page: who is answered, what, and that a text of a run is only a text."""

import http.client
import json
import re
from threading import Thread
from urllib.parse import quote

import pytest

from duologue.analysis.growth import RunGrowth
from duologue.data.formats.detection import CONVERSATIONS
from duologue.errors import SettingError
from duologue.studies.live import server as servers
from duologue.studies.live.server import LivePage, LiveServer
from duologue.views.success import PAIRS_LINK, PAIRS_PAGE

TOKEN = "a-token-of-the-test"


class Served:
    """A server in a thread, and requests to it."""

    def __init__(self, page):
        self.page, self.server = page, LiveServer(page, TOKEN)
        self.port = self.server.server_address[1]
        self.path = self.server.key.path
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def ask(self, path=None, method="GET", **headers):
        """Status, headers and text of an answer; with the cookie unless another is given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        fixed = {"cookie": f"duologue={TOKEN}", "host": f"127.0.0.1:{self.port}"}
        named = {name: value for name, value in {**fixed, **headers}.items() if value is not None}
        connection.putrequest(method, self.path if path is None else path, skip_host=True)
        for name, value in named.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, dict(answer.getheaders()), text

    def state(self, seen=""):
        return json.loads(self.ask(f"{self.path}state?seen={seen}")[2])


@pytest.fixture
def serve(monkeypatch):
    """Serves folders; nothing waits longer than a test needs."""
    monkeypatch.setattr(servers, "PERIOD", 0.0)
    monkeypatch.setattr(servers, "LONG_POLL", 0.0)
    served = []

    def serving(*folders, is_written=None):
        runs = [RunGrowth(folder) for folder in folders]
        served.append(Served(LivePage(runs, folders[0].name, is_written)))
        return served[-1]

    yield serving
    for one in served:
        one.server.shutdown()
        one.server.server_close()


def test_the_printed_address_gives_a_cookie_and_leads_to_the_page(serve, finished):
    served = serve(finished)
    assert served.server.address == f"http://127.0.0.1:{served.port}/?token={TOKEN}"
    status, headers, text = served.ask(f"/?token={TOKEN}", cookie=None)
    assert status == 200
    assert headers["set-cookie"] == f"duologue={TOKEN}; Path={served.path}; HttpOnly; SameSite=Strict"
    assert served.path in text
    assert TOKEN not in text
    status, headers, text = served.ask()
    assert status == 200
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "12 of 12" in text
    assert TOKEN not in text


def test_without_the_token_nothing_is_answered(serve, finished):
    served = serve(finished)
    for path in ("/", "/?token=", "/?token=another", f"{served.path}?token={TOKEN}", f"{served.path}state", "//"):
        for cookie in (None, "duologue=another", "other=1", ";;="):
            assert served.ask(path, cookie=cookie)[0] == 403, (path, cookie)


def test_another_host_or_a_page_of_another_place_is_refused_though_it_has_the_token(serve, finished):
    served = serve(finished)
    for host in ("evil.example", f"evil.example:{served.port}", "", "0.0.0.0:80"):
        assert served.ask(host=host)[0] == 421
        assert served.ask(f"/?token={TOKEN}", host=host)[0] == 421
    assert served.ask(host=None)[0] == 421
    for origin in ("http://evil.example", "http://127.0.0.1:1", "null"):
        assert served.ask(origin=origin)[0] == 403
    assert served.ask(origin=f"http://127.0.0.1:{served.port}")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"])
def test_the_page_can_only_be_read(serve, finished, method):
    status, headers, _ = serve(finished).ask(method=method)
    assert (status, headers["allow"]) == (405, "GET")


def test_other_pages_and_other_files_are_not_there(serve, finished):
    served = serve(finished)
    for name in ("manifest.json", "../manifest.json", "%2e%2e/", "conversation", "conversation?run=9&id=a", "x?run=0",
                 "conversation?run=-1&id=a", "conversation?run=0&id=../../etc"):  # fmt: skip
        assert served.ask(served.path + name)[0] == 404, name


def test_the_page_grows_and_only_what_has_changed_is_sent(serve, growing):
    served = serve(growing.path)
    first = served.state()
    assert "has not begun" in first["parts"]["state"]
    assert first["title"] == "0/0 growing"
    growing.begin()
    growing.grow(2)
    state = served.state(first["seen"])
    assert "The run is under way." in state["parts"]["state"]
    assert "2 of 12" in state["parts"]["figures"]
    assert state["title"] == "2/12 growing"
    assert state["parts"]["newest"].count("<tr class") == 2
    assert "results" in state["parts"]
    growing.grow(1)
    later = served.state(state["seen"])
    assert later["parts"]["newest"].count("<tr class") == 3
    assert served.state(later["seen"])["parts"].keys() <= {"figures"}  # but for the pace


def test_a_test_shows_its_share_and_groups_of_failures_and_each_conversation_has_a_page(serve, finished):
    served = serve(finished)
    parts = served.state()["parts"]
    assert "8 of 12 scored conversations succeeded: 0.67" in parts["results"]
    assert "success: computed by rules, no model judged it" in parts["results"]
    assert "4 of 4: an expected text was never written" in parts["results"]
    address = re.search(r'href="(conversation[^"]+)"', parts["results"])[1].replace("&amp;", "&")
    status, _, text = served.ask(served.path + address)
    assert status == 200
    assert 'href="./"' in text  # back to the page
    assert "accepted" in parts["graphs"]
    assert ">12<" in parts["graphs"]


def test_markup_in_a_message_is_a_text(serve, growing):
    growing.begin()
    hostile = '</table><script>alert(1)</script><img src=x onerror="alert(2)">'
    line = json.loads(growing.lines[0])
    line["scenario"]["title"] = hostile
    line["messages"][0]["text"] = hostile
    line["labels"]["scores"]["success"]["reason"] = hostile
    growing.lines[0] = json.dumps(line).encode() + b"\n"
    growing.cut_short()
    growing.grow(1)
    served = serve(growing.path)
    parts = served.state()["parts"]
    name = quote(line["id"])
    for text in (
        *parts.values(),
        served.ask()[2].partition("<script>")[0],
        served.ask(f"{served.path}conversation?run=0&id={name}")[2],
    ):
        assert "<script>alert" not in text
        assert "<img" not in text
    assert "&lt;script&gt;" in parts["newest"]


def test_when_the_command_has_ended_the_page_says_so_and_leads_to_the_final_page(serve, finished, growing):
    served = serve(finished)
    assert served.state()["leads_to"] == ""
    served.page.end()
    state = served.state()
    while not state["leads_to"]:
        state = served.state(state["seen"])
    assert "The run has ended." in served.state()["parts"]["state"]
    assert not served.page.has_left
    status, _, text = served.ask(served.path + state["leads_to"])
    assert status == 200
    assert '<table class="rows">' in text
    assert served.page.has_left


def test_the_page_that_the_command_wrote_is_the_final_one(serve, growing):
    growing.begin()
    growing.grow(12)
    served = serve(growing.path)
    (growing.path / "page.html").write_text("another program's")
    assert "another program" not in served.ask(f"{served.path}whole")[2]
    from duologue.views.pages import page

    (growing.path / "page.html").write_text(page("of the command", f"<p>hello</p>{PAIRS_LINK}"))
    text = served.ask(f"{served.path}whole")[2]
    assert "<p>hello</p>" in text
    # The server ends with this page, so a link to the page beside it would lead nowhere.
    assert PAIRS_PAGE not in "".join(re.findall('href="[^"]*"', text))
    assert f"all pairs side by side: {growing.path / PAIRS_PAGE}" in text


def test_a_run_that_was_stopped_is_said_to_be_and_goes_on_when_it_is_resumed(serve, growing):
    writes = []
    growing.begin()
    growing.grow(10)
    served = serve(growing.path, is_written=lambda folder: bool(writes))
    served.state()
    assert "The run was stopped: 2 conversations are missing." in served.state()["parts"]["state"]
    writes.append(1)
    assert "The run is under way." in served.state()["parts"]["state"]
    growing.grow(2)
    writes.clear()
    served.state()
    assert "The run has ended." in served.state()["parts"]["state"]


def test_several_runs_have_a_column_each_and_their_conversations_name_theirs(serve, finished, growing):
    growing.begin()
    growing.grow(3)
    parts = serve(finished, growing.path).state()["parts"]
    assert ">whole</th>" in parts["figures"]
    assert "3 of 12" in parts["figures"]
    assert "whole: 8 of 12 scored conversations succeeded" in parts["results"]
    assert "(whole 4" in parts["results"]
    assert "growing</small>" in parts["newest"]
    assert "whole: the graph that ran" in parts["graphs"]


def test_a_folder_that_cannot_be_read_is_said_so_and_the_server_goes_on(serve, growing, monkeypatch):
    served = serve(growing.path)
    with monkeypatch.context() as broken:
        broken.setattr(RunGrowth, "look", lambda self: 1 / 0)
        assert served.ask()[0] == 500
    assert served.ask()[0] == 200


def test_a_port_in_use_is_passed_over_and_none_is_an_error(serve, finished, monkeypatch):
    first, second = serve(finished), serve(finished)
    assert first.port != second.port
    monkeypatch.setattr(servers, "FIRST_PORT", first.port)
    monkeypatch.setattr(servers, "PORTS", 1)
    with pytest.raises(SettingError, match="no port is free"):
        LiveServer(first.page, TOKEN)


def test_nothing_in_the_run_folder_changes(serve, growing):
    growing.begin()
    growing.grow(12)
    before = {path: path.stat().st_mtime_ns for path in growing.path.rglob("*")}
    served = serve(growing.path)
    served.state()
    served.page.end()
    for name in ("", "whole", f"conversation?run=0&id={json.loads(growing.lines[0])['id']}"):
        assert served.ask(served.path + name)[0] == 200
    assert {path: path.stat().st_mtime_ns for path in growing.path.rglob("*")} == before
    assert (growing.path / CONVERSATIONS).exists()
