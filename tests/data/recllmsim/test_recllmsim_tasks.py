"""Task contexts: templates, options, and the texts that they make."""

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
    read = [
        c
        for part in ("recllmsim", "recllmsim_human_vs_agent")
        for c in recllmsim.read_folder(open_data / part).conversations
    ]
    situations = [recllmsim.Situation.of(conversation) for conversation in read]
    simulated = [s for s in situations if s.task_context_id is not None]
    assert len(simulated) == 466
    assert all(new[s.task][int(s.task_context_id or 0)] == s.task_context for s in simulated)


def test_a_placeholder_in_an_option_is_filled_whether_its_key_stands_before_or_after() -> None:
    assert expanded("[A]", A=["near [B]"], B=["x", "y"]) == ["near x", "near y"]
    assert expanded("[A]", B=["x", "y"], A=["near [B]"]) == ["near x", "near y"]
    assert expanded("[A]", A=["[B]"], B=["[C]!"], C=["c"]) == ["c!"]


def test_a_mapping_gives_the_text_of_the_chosen_option() -> None:
    mapping = """[A:{"x": "it's }", 'y': "the ] of [B]"}] and [A]"""
    assert expanded(mapping, A=["x", "y"], B=["b"]) == ["it's } and x", "the ] of b and y"]
    assert expanded("[ A : {'x': '[A]'} ]", A=["x"]) == ["x"]


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
        ("[A:]", {"A": ["x"]}, "[A]"),
        ("x", {key: ["1"] * 20 for key in "ABCD"}, "100,000"),
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


def test_a_workbook_and_yaml_say_the_same() -> None:
    path = sheet(("tea", "Buy [N] [KIND].", "KIND", "green", "black"), (None, None, "N", 2, 3.0), (None,) * 5)
    expected = {"tea": ["Buy 2 green.", "Buy 3 green.", "Buy 2 black.", "Buy 3 black."]}
    assert recllmsim.read_tasks(path) == expected
    Path("tasks").write_bytes(
        b"\xef\xbb\xbftea:\r\n  prompt: Buy [N] [KIND].\r\n  options:\r\n    KIND: [green, black]\r\n    N: [2, 3]\r\n"
    )
    assert recllmsim.read_tasks("tasks") == expected


def test_situations_are_chosen_by_task_context_and_number_of_profiles() -> None:
    situations = recllmsim.combined(recllmsim.shipped_tasks(), ["You like tea.", "You like bread."])
    assert {one.task_context_id for one in recllmsim.chosen(situations, contexts=[2, 0])} == {0, 2}
    assert {one.preference_id for one in recllmsim.chosen(situations, profiles=1, seed=3)} == {0}
    wrong: tuple[dict[str, Any], ...] = ({"tasks": ["tea"]}, {"contexts": [99]}, {"profiles": 3})
    for choice in wrong:
        with pytest.raises(DataError):
            recllmsim.chosen(situations, **choice)


def test_the_shipped_tasks_are_the_same_in_both_languages() -> None:
    english, chinese = recllmsim.shipped_tasks("en"), recllmsim.shipped_tasks("zh")
    assert [len(contexts) for contexts in english.values()] == [len(contexts) for contexts in chinese.values()]
    assert len(english) == 5
    for tasks in (english, chinese):
        contexts = [context for of_task in tasks.values() for context in of_task]
        assert len(set(contexts)) == len(contexts) == 42
        assert not [context for context in contexts if "[" in context or "{" in context]


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
