"""`duologue show`: pages of runs, data sets and pairs of them; one line for what cannot be shown."""

import json
from collections import Counter
from pathlib import Path

import pytest

from duologue import data, views
from duologue.data import Conversation, Message, loading
from duologue.data.formats import record_lines
from duologue.views import shown_conversation


@pytest.fixture
def source(tmp_path):
    conversations = [
        Conversation(
            id=f"{n}abc", scenario={"kind": "x", "title": f"Talk {n}"}, messages=(Message(role="user", text="hi"),)
        )
        for n in range(3)
    ]
    data.record_lines.write(conversations, tmp_path / "talks.jsonl")
    return "talks.jsonl"


def test_a_data_set_becomes_a_page_named_after_it(duologue, source, tmp_path):
    assert duologue("show", source) == (0, "talks.html\n", "")
    assert "Talk 2" in (tmp_path / "talks.html").read_text()


def test_a_run_becomes_a_page_with_its_graph_and_models(duologue, tmp_path):
    duologue("simulate", "simquac", "--limit", 1, "--max-turns", 1, "--out", "r")
    assert duologue("show", "r")[:2] == (0, "r.html\n")
    page = (tmp_path / "r.html").read_text()
    assert "The graph that ran" in page
    assert '<dd dir="auto">offline</dd>' in page


def test_conversations_that_a_failing_model_cut_short_stand_in_the_page_of_their_run(duologue, tmp_path):
    duologue("simulate", "simquac", "--limit", 3, "--max-turns", 1, "--out", "r")
    done, cut = (tmp_path / "r" / name for name in ("conversations.jsonl", "failures.jsonl"))
    first, second, third = data.record_lines.read(done)
    failed = [conversation.model_copy(update={"stop": "model_failed"}) for conversation in (first, second, second)]
    data.record_lines.write(failed, cut)
    data.record_lines.write([first, third], done)
    assert duologue("show", "r")[2] == "1 of 3 conversations were cut short: they come last, with their stop reason\n"
    page = (tmp_path / "r.html").read_text()
    assert page.count('data-stop="model_failed"') == 1
    assert duologue("show", "r", "--id", second.id)[0] == 0
    data.record_lines.write([], done)
    assert json.loads(duologue("show", "r", "--force", "--json")[1])["conversations"] == 2


def test_planned_conversations_without_a_record_are_named_beside_the_page_of_their_run(duologue, tmp_path):
    duologue("simulate", "simquac", "--limit", 2, "--max-turns", 1, "--out", "r")
    done = tmp_path / "r" / "conversations.jsonl"
    data.record_lines.write([*data.record_lines.read(done)][:1], done)
    line = "1 of 2 planned conversations have no record: its command with --out r continues\n"
    assert duologue("show", "r")[2] == line


@pytest.mark.parametrize("in_one_file", [9, 2])
def test_the_list_of_a_run_detects_opens_and_reads_it_once(duologue, monkeypatch, in_one_file):
    duologue("simulate", "simquac", "--limit", 3, "--max-turns", 1, "--out", "r")
    counts: Counter[str] = Counter()

    def count(module, name):
        function = getattr(module, name)

        def counted(*arguments, **options):
            counts[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, counted)

    for module, name in (
        (loading, "detected"), (record_lines, "read_manifest"), (record_lines, "from_plain"), (shown_conversation, "outline"), (shown_conversation, "labels_in"),
    ):  # fmt: skip
        count(module, name)
    assert duologue("show", "r", "--in-one-file", in_one_file, "--out", "page.html")[0] == 0
    once = {"detected": 1, "read_manifest": 1, "from_plain": 3, "outline": 3, "labels_in": counts["labels_in"]}
    assert counts == once
    assert counts["labels_in"] == 3 + sum(len(talk.messages) for talk in data.load("r"))


def test_a_long_run_is_read_again_for_its_list_and_gives_the_same_pages(duologue, monkeypatch, tmp_path):
    duologue("simulate", "simquac", "--limit", 3, "--max-turns", 1, "--out", "r")
    (talk, *others) = data.load("r")
    failed = talk.model_copy(update={"labels": {"scores": {"success": {"value": False}}}})
    data.record_lines.write([others[0], failed, others[1]], tmp_path / "r" / "conversations.jsonl")
    assert duologue("show", "r", "--in-one-file", 0, "--out", "held")[0] == 0
    monkeypatch.setattr("duologue.cli.show.PAIRED", 2)
    kinds = []
    write_run = views.write_run

    def written(shown, *more, **rest):
        kinds.append(type(shown))
        return write_run(shown, *more, **rest)

    monkeypatch.setattr(views, "write_run", written)
    assert duologue("show", "r", "--in-one-file", 0, "--out", "read")[0] == 0
    assert [kind.__name__ for kind in kinds] == ["ListedConversations"]
    pages = [{path.name: path.read_bytes() for path in (tmp_path / name).rglob("*.html")} for name in ("held", "read")]
    assert len(pages[0]) == 4
    assert pages[0] == pages[1]


@pytest.mark.parametrize("more", [(), ("--limit", 3)])
def test_pairs_have_fewer_conversations_than_a_list(duologue, monkeypatch, more):
    duologue("simulate", "simquac", "--limit", 3, "--max-turns", 1, "--out", "r")
    monkeypatch.setattr("duologue.cli.show.PAIRED", 2)
    code, _, line = duologue("show", "r", "--beside", "r", *more)
    assert (code, "has more than 2 conversations, the maximum of pairs in a browser: give --limit 2" in line) == (
        2,
        True,
    )


def test_a_great_data_set_becomes_a_folder(duologue, source, tmp_path):
    assert duologue("show", source, "--in-one-file", 2)[:2] == (0, "talks/index.html\n")
    assert duologue("show", source, "--in-one-file", 2, "--out", "p")[:2] == (0, "p/index.html\n")
    assert len(list((tmp_path / "p/conversations").iterdir())) == 3


def test_a_folder_may_be_given_for_one_page_too(duologue, source):
    assert duologue("show", source, "--out", "p")[:2] == (0, "p/index.html\n")


def test_two_data_sets_become_one_page(duologue, source, tmp_path):
    assert duologue("show", source, "--beside", source)[:2] == (0, "talks-talks.html\n")
    assert "3 pairs about the same topic" in (tmp_path / "talks-talks.html").read_text()


def test_two_files_of_messages_are_paired_by_the_topics_that_they_name(duologue, tmp_path):
    for name, topics in (("one", ["tea", "rice", None]), ("two", ["rice", "tea", "soup"])):
        messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]
        lines = [{"topic": topic, "messages": messages} for topic in topics]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert duologue("show", "one.jsonl", "--beside", "two.jsonl")[:2] == (0, "one-two.html\n")
    page = (tmp_path / "one-two.html").read_text()
    assert "2 pairs about the same topic" in page
    assert page.count("only in A") == page.count("only in B") == 1


def test_what_was_written_can_be_told_as_json(duologue, source):
    code, out, err = duologue("show", source, "--id", "1", "--json")
    document = {"source": source, "target": "talks-1abc.html", "conversations": 1, "notes": [], "broken": []}
    assert (code, json.loads(out), err) == (0, document, "")


def test_the_id_of_a_conversation_is_no_path(duologue, tmp_path):
    (tmp_path / "in").mkdir()
    data.record_lines.write([Conversation(id="../../x y", scenario={"kind": "x"})], "in/r.jsonl")
    assert duologue("show", "in/r.jsonl", "--id", "..")[:2] == (0, "r-.._.._x_y.html\n")


@pytest.mark.parametrize("more", [(), ("--id", "1"), ("--beside", "talks.jsonl"), ("--out", "talks.html")])
def test_a_file_that_is_no_page_of_ours_is_never_overwritten_and_a_page_of_another_source_only_with_force(
    duologue, source, tmp_path, more
):
    name = {"--id": "talks-1abc.html", "--beside": "talks-talks.html"}.get((*more, "")[0], "talks.html")
    (tmp_path / name).write_text("<html>mine</html>")
    code, out, err = duologue("show", source, *more, "--force")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{name}: exists and is not a page of Duologue: choose another file with --out" in err
    assert (tmp_path / name).read_text() == "<html>mine</html>"
    (tmp_path / name).unlink()
    assert [duologue("show", source, *more)[0] for _ in range(2)] == [0, 0]  # its own page may be made again
    (tmp_path / name).write_text(
        (tmp_path / name).read_text().replace('name="duologue-source" content="', "of another")
    )
    before = (tmp_path / name).read_bytes()
    code, out, err = duologue("show", source, *more)
    assert (code, out) == (2, "")
    assert err == f"duologue: {name}: exists: give --force to replace it, or another place\n"
    assert (tmp_path / name).read_bytes() == before
    assert duologue("show", source, *more, "--force")[0] == 0


def test_a_folder_of_pages_of_another_source_is_replaced_only_with_force(duologue, source, tmp_path):
    arguments = ("show", source, "--in-one-file", 2)
    assert [duologue(*arguments)[0] for _ in range(2)] == [0, 0]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / source).write_bytes((tmp_path / source).read_bytes())
    other = ("show", f"other/{source}", "--in-one-file", 2)
    assert duologue(*other)[0] == 2
    assert duologue(*other, "--force")[0] == 0
    assert duologue(*arguments)[0] == 2


def test_a_page_names_no_place_of_the_machine(duologue, source, tmp_path):
    assert duologue("show", source)[0] == 0
    assert str(tmp_path) not in (tmp_path / "talks.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("talks.jsonl", "--id", "z"), "talks.jsonl: has no conversation 'z'"),
        (("talks.jsonl", "--id", "0", "--beside", "talks.jsonl"), "give one of the two"),
        (("nothing",), "nothing: cannot be read"),
        (("empty.jsonl",), "empty.jsonl: is empty"),
        (("talks.jsonl", "--beside", "nothing"), "nothing: cannot be read"),
        (("talks.jsonl", "--out", "talks.jsonl/x.html"), "cannot be written"),
        (("copy.html", "--out", "copy.html"), "copy.html: is the source itself"),
        (("talks.jsonl", "--in-one-file", "1", "--out", "full"), "full: exists and is not a folder of pages"),
        (("none",), "none: holds no conversation"),
    ],
)
def test_what_cannot_be_shown_is_one_line_and_exit_code_two(duologue, source, tmp_path, arguments, message):
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "copy.html").write_text((tmp_path / source).read_text())
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").write_text("x")
    (tmp_path / "none").mkdir()
    (tmp_path / "none/manifest.json").write_text('{"planned": []}')
    (tmp_path / "none/conversations.jsonl").write_text("")
    code, out, err = duologue("show", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".txt"])
def test_one_conversation_is_written_in_the_form_of_the_files_ending(duologue, source, ending):
    (conversation, *_) = data.record_lines.read(source)
    out = Path(f"one{ending}")
    code, told, err = duologue("show", source, "--id", conversation.id[:8], "--out", out)
    assert (code, told) == (0, f"{out}\n"), err
    text = out.read_text()
    assert text == f"{conversation}\n" if ending == ".txt" else json.loads(text)["id"] == conversation.id
    if ending != ".txt":
        assert data.Conversation.from_plain(json.loads(text)) == conversation
    assert len(text.splitlines()) == 1 or ending != ".jsonl"
    code, _, err = duologue("show", source, "--id", conversation.id, "--out", out)
    assert (code, "give --force to replace it" in " ".join(err.split())) == (2, True)
    assert duologue("show", source, "--id", conversation.id, "--out", out, "--force")[0] == 0


def test_one_conversation_is_a_page_by_its_ending_and_another_ending_is_refused(duologue, source):
    (conversation, *_) = data.record_lines.read(source)
    assert duologue("show", source, "--id", conversation.id, "--out", "one.html")[0] == 0
    assert "<html" in Path("one.html").read_text()
    code, out, err = duologue("show", source, "--id", conversation.id, "--out", "one.pdf")
    assert (code, out) == (2, "")
    assert ".html for a page, .json or .jsonl for the record, .txt for the messages" in " ".join(err.split())
    assert not Path("one.pdf").exists()
