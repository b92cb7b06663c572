"""What is no file where a run keeps one, and manifests with something else than settings in their places."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from duologue.data import Conversation, DataError, Message
from duologue.data.files.journals import Codec, JournalReader
from duologue.data.formats.record_lines import of_run
from duologue.runs.folder import dataset
from duologue.runs.journals.calls import CallFile


@pytest.mark.parametrize(("name", "kind"), [("pipe", "a pipe"), ("device", "a device")])
def test_no_pipe_and_no_device_is_read_as_recorded_calls_or_as_a_journal(name: str, kind: str) -> None:
    os.mkfifo("pipe")
    Path("device").symlink_to("/dev/zero")
    codec: Codec[Any] = Codec(key=str, to_plain=str, from_plain=str)
    with pytest.raises(DataError, match=f"{name}: is {kind} and no file"):
        CallFile.replaying(Path(name))
    with pytest.raises(DataError, match=f"{name}: is {kind} and no file"):
        JournalReader(Path(name), codec).refresh()


@pytest.mark.parametrize("junk", [None, 7, "x", [], True])
def test_settings_of_a_manifest_that_are_no_objects_are_passed_over(junk: Any) -> None:
    provenance = {"cast": "c", "limits": {"seed": 1}, "prompts": {"p": "1"}}
    conversation = SimpleNamespace(id="a", provenance=SimpleNamespace(**provenance))
    base: Codec[Any] = Codec(key=str, to_plain=str, from_plain=lambda value: value)
    codec = of_run({"planned": ["a"], "settings": {"limits": junk, "prompts": junk}}, base)
    assert codec.from_plain(conversation).id == "a"


@pytest.mark.parametrize("settings", [{}, {"nodes": {}}, {"nodes": 7}, {"nodes": [], "limits": {}}])
def test_a_card_whose_manifest_was_spoiled_names_the_manifest_in_one_line(settings: Any) -> None:
    messages = (Message(role="user", text="Hi"), Message(role="assistant", text="Hello"))
    talk = Conversation(id="a", scenario={"kind": "plain", "digest": "1"}, messages=messages)
    with pytest.raises(DataError, match=r"^manifest.json: its settings or data are not what a run writes") as caught:
        dataset.write(Path("run"), {"settings": settings, "data": []}, [talk.scenario], lambda: iter([talk]))
    assert "\n" not in str(caught.value)
