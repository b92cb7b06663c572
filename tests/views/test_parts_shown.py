"""Images on pages: drawn from the record and from files beside the source, and never from a network."""

import base64
import json
from pathlib import Path

import duologue
from duologue.data import Attempt, Conversation, Message, Part, ToolCall, load
from duologue.views import conversation_page, run_page, with_images
from duologue.views.pairs import pair_html
from duologue.views.parts import MOST_SHOWN

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def inline(content=PNG, mime="image/png"):
    url = f"data:{mime};base64,{base64.b64encode(content).decode()}"
    return Part(type="image", url=url, mime_type=mime)


def talk(*parts, tool=()):
    calls = (ToolCall(name="draw", result="drawn", parts=tool),)
    draft = Attempt(text="Here.", verdict="accepted", tool_calls=calls if tool else ())
    message = Message(role="assistant", text="Here.", attempts=(draft,))
    return Conversation(id="a", scenario={}, messages=(Message(role="user", text="Look.", parts=parts), message))


def images(page, tags):
    return [names for name, names in tags(page).tags if name == "img"]


def test_an_image_is_drawn_and_the_policy_allows_images_of_the_page_alone(tags):
    page = conversation_page(talk(inline()))
    assert len(images(page, tags)) == 1
    assert "; img-src data:; " in tags(page).policy
    assert "img-src" not in tags(conversation_page(talk(Part(type="image", url="https://a.b/c.png")))).policy
    assert "img-src data:" in tags(run_page([talk(inline())], "run")).policy
    assert "img-src" not in tags(run_page([talk()], "run")).policy
    assert '<img class="part"' in pair_html(talk(inline()), talk(), ("one", "two"), "p")
    assert len(images(conversation_page(talk(tool=(inline(),))), tags)) == 1


HOSTILE = (
    "javascript:alert(1)",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "data:text/html,<script>alert(1)</script>",
    'https://a.b/"><script>alert(1)</script>',
    "data:image/svg+xml;base64," + base64.b64encode(b"<svg onload='alert(1)'/>").decode(),
    "data:image/png;base64," + base64.b64encode(b"<html><script>alert(1)</script>").decode(),
    "file:///etc/hostname",
    "//a.b/c.png",
)


def test_no_hostile_address_becomes_an_image_a_script_or_a_link_that_runs(tags):
    parts = tuple(Part(type="image", url=url, name=f"{url}<b>", mime_type=url) for url in HOSTILE)
    page = conversation_page(talk(*parts))
    assert images(page, tags) == []
    assert "script" not in {name for name, _ in tags(page).tags}
    assert [target for target in tags(page).targets if "alert" in target] == [HOSTILE[3]]
    assert "<script>" not in page
    assert 'href="javascript' not in page
    assert 'href="data:' not in page
    assert "src=" not in page


def test_the_images_of_a_file_that_is_read_are_shown_if_they_lie_beside_it(tags, tmp_path):
    folder = tmp_path / "read"
    (folder / "pictures").mkdir(parents=True)
    (folder / "pictures" / "dot.png").write_bytes(PNG)
    (folder / "no.png").write_text("<svg/>")
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "large.png").write_bytes(PNG + bytes(MOST_SHOWN))
    urls = ["pictures/dot.png", "../secret.png", "link.png", "no.png", "large.png", "gone.png", "pictures",
            str(tmp_path / "secret.png"), "a\0b.png", "x" * 5000]  # fmt: skip
    content = [{"type": "text", "text": "Look."}, *({"type": "image_url", "image_url": {"url": url}} for url in urls)]
    file = folder / "chat.jsonl"
    file.write_text(json.dumps({"messages": [{"role": "user", "content": content}]}) + "\n")
    (conversation,) = load(file)
    shown = with_images(conversation, folder)
    assert [part.inline for part in shown.messages[0].parts] == [True] + [False] * 9
    assert shown.messages[0].parts[0].name == "pictures/dot.png"
    page = Path(tmp_path / "page.html")
    duologue.show(file, out=page)
    assert "img-src data:" in tags(page.read_text()).policy


def test_the_calls_of_a_file_that_is_read_are_folded_and_are_no_rejected_drafts():
    call = {"id": "1", "function": {"name": "look_up", "arguments": "{}"}}
    turns = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "12A"},
        {"role": "assistant", "content": "In 12A."},
    ]
    Path("chat.jsonl").write_text(json.dumps({"messages": turns}) + "\n")
    page = conversation_page(load("chat.jsonl").conversations[0])
    assert "1 tool call: look_up" in page
    assert "did not pass" not in page
    assert "draft and prompt" not in page
