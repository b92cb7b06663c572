"""Task contexts: templates, options, and the texts that they make."""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.data import DataError, recllmsim
from duologue.data.recllmsim import Template, expand
from duologue.data.recllmsim.tasks import NAMES


def expanded(prompt: str, **options: list[str]) -> list[str]:
    return expand(Template(task="tea", prompt=prompt, options={key: tuple(texts) for key, texts in options.items()}))


def fault(prompt: str, **options: list[str]) -> str:
    with pytest.raises(DataError) as caught:
        expanded(prompt, **options)
    line = str(caught.value)
    assert line.startswith("task 'tea': ")
    assert "\n" not in line
    return line


def sheet(*rows: tuple[Any, ...], header: tuple[str, ...] = ("Type", "Prompt", "Key", "Option1", "Option2")) -> Path:
    book = openpyxl.Workbook()
    for row in (header, *rows):
        assert book.active is not None
        book.active.append(row)
    book.save("tasks.xlsx")
    book.close()
    return Path("tasks.xlsx")


def broken(path: Path | str) -> str:
    with pytest.raises(DataError) as caught:
        recllmsim.read_tasks(path)
    line = str(caught.value)
    assert line.startswith(str(path))
    assert "\n" not in line
    return line


@pytest.mark.heavy
def test_the_open_workbooks_give_the_published_contexts(open_data: Path) -> None:
    old = recllmsim.read_tasks(open_data / "recllmsim/task_context_en.xlsx")
    new = recllmsim.read_tasks(open_data / "recllmsim/task_context_new.xlsx")
    counts = {
        "travel planning": 12,
        "skills learning planning": 12,
        "choosing restaurant": 12,
        "preparing gifts": 12,
        "recipe planning": 8,
    }
    assert {task: len(set(contexts)) for task, contexts in old.items()} == counts
    assert {task: len(set(contexts)) for task, contexts in new.items()} == counts | {"new travel planning": 12}
    assert not [context for contexts in new.values() for context in contexts if "[" in context]
    read = [c for part in ("recllmsim", "recllmsim_human_vs_agent") for c in recllmsim.read(open_data / part)]
    situations = [recllmsim.Situation.of(conversation) for conversation in read]
    simulated = [s for s in situations if s.task_context_id is not None]
    assert len(simulated) == 466
    assert all(new[s.task][int(s.task_context_id or 0)] == s.task_context for s in simulated)


def test_the_last_key_is_the_fastest() -> None:
    assert expanded("[A][B]", A=["1", "2"], B=["x", "y"]) == ["1x", "1y", "2x", "2y"]
    assert expanded("no key") == ["no key"]


def test_a_placeholder_in_an_option_is_filled_whether_its_key_stands_before_or_after() -> None:
    assert expanded("[A]", A=["near [B]"], B=["x", "y"]) == ["near x", "near y"]
    assert expanded("[A]", B=["x", "y"], A=["near [B]"]) == ["near x", "near y"]
    assert expanded("[A]", A=["[B]"], B=["[C]!"], C=["c"]) == ["c!"]


def test_a_mapping_gives_the_text_of_the_chosen_option() -> None:
    mapping = """[A:{"x": "it's }", 'y': "the ] of [B]"}] and [A]"""
    assert expanded(mapping, A=["x", "y"], B=["b"]) == ["it's } and x", "the ] of b and y"]
    assert expanded("[ A : {'x': '[A]'} ]", A=["x"]) == ["x"]


def test_text_from_an_option_is_data_even_where_it_looks_like_code() -> None:
    assert expanded("[A]", A=["__import__('os')", "{0} %s ${x} \\1"]) == ["__import__('os')", "{0} %s ${x} \\1"]
    fault("[A:{'x': __import__('os').getcwd()}]", A=["x"])
    fault("[A:dict(x='y')]", A=["x"])


def test_brackets_without_a_name_are_text() -> None:
    assert expanded("[...] [] [A] ]", A=["a"]) == ["[...] [] a ]"]
    assert expanded("[A B] [Ab [ [1, [[A]]", **{"A": ["a"], "A B": ["b"]}) == ["b [Ab [ [1, [a]"]


@pytest.mark.parametrize(
    ("prompt", "options", "named"),
    [
        ("[B]", {"A": ["a"]}, "[B]"),
        ("[A]", {"A": ["[B]"]}, "[B]"),
        ("[a]", {"A": ["x"]}, "[a]"),
        ("x", {"A": []}, "'A'"),
        ("[A]", {"A": ["[A]"]}, "A -> A"),
        ("[C]", {"A": ["[B]"], "B": ["[A]"], "C": ["[A]"]}, "A -> B -> A"),
        ("[A]", {"A": ["[B:{'b': '[A]'}]"], "B": ["b"]}, "A -> A"),
        ("[A:{'x': '1'}]", {"A": ["x", "y"]}, "'y'"),
        ("[A:{'x': 1}]", {"A": ["x"]}, "[A]"),
        ("[A:{'x': '1'", {"A": ["x"]}, "[A]"),
        ("[A:{'x': '1'} b]", {"A": ["x"]}, "[A]"),
        ("Go to [A", {"A": ["x"]}, "[A"),
        ("[A]", {"A": ["[B, then"], "B": ["x"]}, "[B"),
        ("[A:]", {"A": ["x"]}, "[A]"),
        ("x", {key: ["1"] * 20 for key in "ABCD"}, "100,000"),
        ("[K0]", {**{f"K{n}": [f"[K{n + 1}][K{n + 1}]"] for n in range(40)}, "K40": [""]}, "1,000"),
    ],
)  # fmt: skip
def test_what_cannot_be_filled_is_named(prompt: str, options: dict[str, list[str]], named: str) -> None:
    assert named in fault(prompt, **options)


plain = st.text(st.characters(exclude_characters="[]", exclude_categories=("Cs",)), max_size=4)


@given(st.dictionaries(st.sampled_from("ABCD"), st.lists(plain, min_size=1, max_size=3), min_size=1), st.data())
def test_expansion_is_the_product_of_the_options(options: dict[str, list[str]], data: st.DataObject) -> None:
    parts = data.draw(st.lists(plain | st.sampled_from([f"[{key}]" for key in options]), max_size=6))
    expected = []
    for chosen in product(*options.values()):
        values = {f"[{key}]": value for key, value in zip(options, chosen, strict=True)}
        expected.append("".join(values.get(part, part) for part in parts))
    assert expanded("".join(parts), **options) == expected


@given(st.lists(st.text(max_size=5), min_size=1, max_size=3, unique=True), st.text(max_size=8))
def test_a_mapping_of_any_texts_is_read_as_json_has_them(options: list[str], text: str) -> None:
    bare = [option.replace("[", "(") for option in options]
    mapping = dict.fromkeys(bare, text.replace("[", "("))
    for ascii_only in (True, False):
        written = json.dumps(mapping, ensure_ascii=ascii_only)
        if "\\u" not in written and "\\/" not in written:
            assert expanded(f"<[A:{written}]>", A=bare) == [f"<{mapping[option]}>" for option in bare]


def test_a_workbook_and_yaml_say_the_same() -> None:
    path = sheet(("tea", "Buy [N] [KIND].", "KIND", "green", "black"), (None, None, "N", 2, 3.0), (None,) * 5)
    expected = {"tea": ["Buy 2 green.", "Buy 3 green.", "Buy 2 black.", "Buy 3 black."]}
    assert recllmsim.read_tasks(path) == expected
    Path("tasks").write_bytes(
        b"\xef\xbb\xbftea:\r\n  prompt: Buy [N] [KIND].\r\n  options:\r\n    KIND: [green, black]\r\n    N: [2, 3]\r\n"
    )
    assert recllmsim.read_tasks("tasks") == expected


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([("a", None, "K", "x", None)], "row 2"),
        ([(None, "p", "K", "x", None)], "row 2"),
        ([(None, None, "K", "x", None)], "row 2"),
        ([("a", "p", None, "x", None)], "row 2"),
        ([("a", "p", "K", "x", None), (None, None, "K", "y", None)], "row 3"),
        ([("a", "[L]", "K", "x", None)], "[L]"),
        ([("a", "p", None, None, None), ("a", "q", None, None, None)], "row 3"),
        ([("a", "p", "K", True, None)], "row 2"),
        ([], ""),
    ],
)  # fmt: skip
def test_a_wrong_row_is_named(rows: list[tuple[Any, ...]], place: str) -> None:
    assert place in broken(sheet(*rows))


def test_a_sheet_without_the_columns_and_a_broken_workbook_are_named() -> None:
    broken(sheet(header=("A", "B")))
    path = sheet()
    path.write_bytes(path.read_bytes()[:900])
    broken(path)


def test_without_openpyxl_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    path = sheet(("a", "p", None))
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    assert 'pip install "duologue[stats]"' in broken(path)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("- a", ""),
        ("", ""),
        ("a: b", "task 'a'"),
        ("a: {prompt: ' '}", "task 'a'"),
        ("a: {prompt: b, option: {}}", "task 'a'"),
        ("a: {prompt: b, options: [c]}", "task 'a'"),
        ("a: {prompt: b, options: {K: c}}", "task 'a'"),
        ("a: {prompt: b, options: {K: [no]}}", "task 'a'"),
        ("a: {prompt: b}\na: {prompt: c}", "line 1"),
        ("a: [", "line"),
        ("a: !!python/name:os.system {}", "line"),
    ],
)  # fmt: skip
def test_wrong_yaml_is_named(text: str, place: str) -> None:
    Path("t.yaml").write_text(text, encoding="utf-8")
    assert place in broken("t.yaml")


def test_tasks_are_chosen_by_name() -> None:
    tasks = recllmsim.shipped_tasks()
    assert list(recllmsim.chosen_tasks(tasks, ["recipe planning"])) == ["recipe planning"]
    assert recllmsim.chosen_tasks(tasks, None) == tasks
    situations = recllmsim.combined(tasks, ["You like tea.", "You like bread."])
    assert {one.task_context_id for one in recllmsim.chosen(situations, contexts=[2, 0])} == {0, 2}
    assert {one.preference_id for one in recllmsim.chosen(situations, profiles=1, seed=3)} == {0}
    wrong: tuple[dict[str, Any], ...] = ({"tasks": ["tea"]}, {"contexts": [99]}, {"profiles": 3})
    for choice in wrong:
        with pytest.raises(DataError):
            recllmsim.chosen(situations, **choice)
    with pytest.raises(DataError):
        recllmsim.chosen_tasks(tasks, ["tea"])


def test_several_tasks_may_be_named_with_commas_and_a_name_may_have_one_itself() -> None:
    tasks = recllmsim.shipped_tasks() | {"bread, cheese": ["You want both."]}
    names = ["gift preparation,travel planning", "bread, cheese"]
    chosen = ["gift preparation", "travel planning", "bread, cheese"]
    assert list(recllmsim.chosen_tasks(tasks, names)) == chosen
    situations = recllmsim.combined(tasks, ["You like tea."])
    assert {situation.task for situation in recllmsim.chosen(situations, tasks=names)} == set(chosen)


def test_the_shipped_tasks_are_the_same_in_both_languages() -> None:
    english, chinese = recllmsim.shipped_tasks("en"), recllmsim.shipped_tasks("zh")
    assert [len(contexts) for contexts in english.values()] == [len(contexts) for contexts in chinese.values()]
    assert len(english) == 5
    for tasks in (english, chinese):
        contexts = [context for of_task in tasks.values() for context in of_task]
        assert len(set(contexts)) == len(contexts) == 42
        assert not [context for context in contexts if "[" in context or "{" in context]


def test_no_shipped_sentence_is_a_published_one(open_data: Path) -> None:
    published = " ".join(
        str(recllmsim.read_tasks(open_data / f"recllmsim/task_context_{n}.xlsx")) for n in ("en", "new")
    )
    for context in (context for of_task in recllmsim.shipped_tasks().values() for context in of_task):
        words = context.split()
        assert not [run for at in range(len(words) - 5) if (run := " ".join(words[at : at + 6])) in published]


def test_no_expansion_of_a_shipped_task_has_an_article_behind_a_possessive_or_a_phrase_twice() -> None:
    """Options stand in sentences: none may bring its own article where there is one already."""
    for context in (context for of_task in recllmsim.shipped_tasks().values() for context in of_task):
        assert not re.search(r"\b(?:your|the|a|an|this|these) (?:a|an|the|one|two|three|your)\b|\b(\w+) \1\b", context)
        assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", context)


def test_a_task_has_one_short_name_whatever_a_source_calls_it() -> None:
    names = (
        "旅行规划",
        "new_travel",
        "New  Travel planning",
        "gift preparation",
        "recipes",
        "skills",
        "选择餐厅",
        "chess",
    )
    short_names = [recllmsim.task_name(name) for name in names]
    assert short_names == ["travel", "new_travel", "new_travel", "gifts", "recipe", "skills", "restaurant", "other"]
    assert [recllmsim.task_name(name) for name in NAMES] == [*NAMES]
    spellings = [name for names in NAMES.values() for name in names]
    assert len(spellings) == len(set(spellings))


def test_every_task_of_open_files_and_workbooks_and_of_the_shipped_ones_has_a_name(open_data: Path) -> None:
    names = {str(one.scenario["task"]) for one in recllmsim.read(open_data / "recllmsim")}
    names |= {*recllmsim.shipped_tasks("en"), *recllmsim.shipped_tasks("zh")}
    names |= {*recllmsim.read_tasks(open_data / "recllmsim/task_context_new.xlsx")}
    assert not [name for name in names if recllmsim.task_name(name) == "other"]


def test_the_common_name_is_readable_words_and_an_unknown_task_is_its_own() -> None:
    assert recllmsim.common_task("旅行规划") == recllmsim.common_task("new_travel") == "travel planning"
    assert recllmsim.common_task("Brew_tea") == "brew tea"
