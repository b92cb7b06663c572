"""Formats of somebody's own: how they are registered, who has a file that several claim, and the error of a bad file."""

import gzip
import re
from pathlib import Path

import pytest

from duologue import data
from duologue.data import Conversation, Format, Message, domains
from duologue.errors import DataError, SettingError

pytestmark = pytest.mark.usefixtures("own_registry")

INSTRUCTION = "You are the clerk of the inn. You must never tell a guest the price of a room before it asks for one."
LOG = "== ann\nC: 有蛋糕吗？\nA: Maybe tomorrow.\n== bo\nC: Coffee.\n"


def claims_text(source):
    return source.text.startswith("== ")


def read_till(path):
    for block in path.read_text(encoding="utf-8").split("== ")[1:]:
        name, *lines = block.strip().splitlines()
        messages = []
        for line in lines:
            side, text = line.split(": ", 1)
            messages.append(Message(role={"C": "user", "A": "assistant"}[side], text=text))
        yield Conversation(id=name, scenario={"user": name}, messages=tuple(messages))


def till(name="till", recognises=claims_text, read=read_till, **more):
    return Format(name, "logs of a till", recognises, read, **more)


@pytest.fixture
def log(tmp_path):
    (tmp_path / "monday.log").write_text(LOG, encoding="utf-8")
    return tmp_path / "monday.log"


def test_a_registered_format_is_detected_by_content_and_read(log):
    with pytest.raises(DataError, match="is not in a known format"):
        data.load(log)
    form = till()
    assert data.register_format(form) is form
    loaded = data.load(log)
    assert (loaded.kind, [talk.id for talk in loaded]) == ("till", ["ann", "bo"])
    assert loaded[0].messages[0].text == "有蛋糕吗？"
    assert domains.own_formats() == (form,)


def test_a_folder_of_its_files_is_read_whatever_their_names(log, tmp_path):
    data.register_format(till())
    (tmp_path / "notes.md").write_text("nothing")
    (tmp_path / ".hidden").write_text(LOG)
    loaded = data.load(tmp_path)
    assert (loaded.kind, len(loaded)) == ("folder", 2)


def test_its_writer_is_a_target_of_convert():
    data.register_format(till(write=lambda conversations, path: []))
    assert "till" in domains.targets()


GREEDY = {"recognises": lambda source: True, "read": lambda path: [Conversation(id="mine", scenario={})]}


def test_a_format_of_ones_own_goes_before_the_shipped_ones(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"messages": [{"role": "user", "content": "Hello"}]}\n')
    assert data.kind_of(tmp_path / "a.jsonl") == "messages"
    data.register_format(till("greedy", **GREEDY))
    assert data.load(tmp_path / "a.jsonl").kind == "greedy"


def test_records_are_never_ones_own_even_if_they_are_broken(tmp_path):
    data.register_format(till("greedy", **GREEDY))
    data.record_lines.write([Conversation(id="a", scenario={})], tmp_path / "r.jsonl")
    with (tmp_path / "r.jsonl").open("a") as file:
        file.write('{"id": 3}\n')
    with pytest.raises(DataError, match="line 2"):
        data.load(tmp_path / "r.jsonl")


def test_what_is_not_text_may_be_ones_own(tmp_path):
    (tmp_path / "talks.bin").write_bytes(b"\xff\x00")
    data.register_format(till("bin", lambda source: source.path.read_bytes()[:1] == b"\xff", lambda path: []))
    assert data.kind_of(tmp_path / "talks.bin") == "bin"


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (
            read_till,
            r"monday.log: the format 'till' cannot read it: ValueError: not enough values .*test_own_formats.py:",
        ),
        (lambda path: [{"id": "a"}], "the format 'till' gave dict, not data.Conversation"),
        (lambda path: None, "cannot read it: TypeError"),
        (lambda path: Conversation(id="a", scenario={}), "the format 'till' gave tuple, not data.Conversation"),
        (lambda path: path.read_text(encoding="ascii")[1 / 0], "cannot read it: ZeroDivisionError"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(log, read, words):
    log.write_text("== ann\nno side\n")
    data.register_format(till(read=read))
    with pytest.raises(DataError, match=words) as caught:
        data.load(log)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("pack", [gzip.compress, lambda raw: b"\xef\xbb\xbf" + raw], ids=["gzip", "mark"])
def test_the_text_of_a_file_is_read_as_recognises_sees_it(tmp_path, pack):
    path = tmp_path / "monday.log.gz"
    path.write_bytes(pack(LOG.encode()))
    data.register_format(till(read=lambda path: [Conversation(id=data.read_text(path), scenario={})]))
    assert [talk.id for talk in data.load(path)] == [LOG]


def test_the_conversation_that_the_page_about_logs_builds_has_what_the_text_says():
    page = (Path(data.__file__).parents[1] / "docs/data/writing.md").read_text(encoding="utf-8")
    names = {}
    exec(next(block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "ToolCall" in block), names)
    talk = names["talk"]
    assert domains.of(talk).title(talk.scenario) == "Rooms"
    leak = talk.messages[1].model_copy(update={"text": INSTRUCTION * 2, "attempts": ()})
    aside = {"asides": [{"at": 0, "system": INSTRUCTION * 2}]}
    leaking = talk.model_copy(update={"messages": (talk.messages[0], leak), "extra": aside})
    assert [finding.rule for finding in data.checks.check(talk)] == ["cut-off"]
    assert [finding.rule for finding in data.checks.check(leaking)] == ["prompt-shown"]


def test_a_failing_recogniser_is_a_warning_and_leaves_other_files_alone(caplog, tmp_path):
    data.register_format(till(recognises=lambda source: source.value["till"]))
    (tmp_path / "a.jsonl").write_text('{"messages": [{"role": "user", "content": "Hello"}]}\n')
    assert len(data.load(tmp_path / "a.jsonl")) == 1
    assert "the format till is not asked: KeyError: 'till' (data/test_own_formats.py:" in caplog.text


@pytest.mark.parametrize(
    "form",
    ["till", till("sharegpt"), till("quac"), till("folder")],
)
def test_what_cannot_be_registered_changes_nothing(form):
    with pytest.raises(SettingError):
        data.register_format(form)
    assert domains.own_formats() == ()


def test_a_name_is_taken_once_unless_it_is_replaced():
    first, second = data.register_format(till()), till()
    assert data.register_format(first) is first
    other = till(read=list)
    with pytest.raises(SettingError, match="'till'"):
        data.register_format(other)
    assert data.register_format(other, replace=True) is other
    assert domains.own_formats() == (other,)
    assert second.name == "till"


def test_a_domain_cannot_take_the_name_of_a_format_of_ones_own():
    data.register_format(till())

    class Shop(data.Domain):
        kind = "shop"
        formats = (till(),)

    with pytest.raises(SettingError, match="'till'"):
        domains.register(Shop())
