"""Tasks and profiles that ask for much: contexts, situations and pools cost what is asked of them, or are refused."""

from functools import partial
from typing import Any

import pytest

from duologue.data import recllmsim
from duologue.data.recllmsim import Template, contexts, profiles
from duologue.data.recllmsim.contexts import Contexts
from duologue.data.recllmsim.selection import Combination
from duologue.data.recllmsim.tasks import tasks_on_demand
from tests.data.files.test_costly_files import Steps, fault, grows_as_its_size, written


def doubling(count: int) -> Template:
    keys = {f"K{number}": (f"[K{number + 1}][K{number + 1}]",) for number in range(count)}
    return Template(task="tea", prompt="[K0]", options={**keys, f"K{count}": ("x",)})


def test_options_that_double_each_other_end_at_a_bound(steps: Steps) -> None:
    assert len(recllmsim.expand(doubling(8))[0]) == 2**8
    assert "a context has more than 1,000 placeholders" in fault(recllmsim.expand, doubling(40))
    assert steps(fault, recllmsim.expand, doubling(40)) < 50_000
    chain = {f"K{number}": (f"[K{number + 1}]",) for number in range(5_000)} | {"K5000": ("x",)}
    deep = Template(task="tea", prompt="[K0]", options=chain)
    assert "more than 50 options and mappings stand inside each other" in fault(recllmsim.expand, deep)
    long = Template(task="tea", prompt="[K]" * 900, options={"K": ("x" * 10_000,)})
    assert "a context has more than 1,000,000 characters" in fault(recllmsim.expand, long)


def test_contexts_are_made_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {key: tuple("0123456789") for key in "ABCDE"}
    template = Template(task="tea", prompt="[A][B][C][D][E]", options=options)
    fillings: list[object] = []
    filling = contexts._Filling

    def counted(*arguments: Any) -> Any:
        fillings.append(arguments)
        return filling(*arguments)

    monkeypatch.setattr(contexts, "_Filling", counted)
    every = Contexts(template)
    assert (len(every), every[0], every[12345], every[-1], every[7:9]) == (
        100_000, "00000", "12345", "99999", ["00007", "00008"],
    )  # fmt: skip
    assert len(fillings) == 5
    with pytest.raises(IndexError):
        every[100_000]


def test_situations_are_those_of_the_whole_product_without_making_it() -> None:
    tasks = {"tea": ["a", "b", "c"], "trip": ["d"], "gift": ["e", "f"]}
    pool = [f"profile {number % 7}" for number in range(9)]
    every, lazily = recllmsim.combined(tasks, pool), Combination(tasks, tuple(enumerate(pool)))
    assert (list(lazily), len(lazily)) == (every, len(every))
    choices: tuple[dict[str, Any], ...] = (
        {},
        {"tasks": ["gift", "tea"]},
        {"contexts": [2, 0]},
        {"contexts": [1], "tasks": ["gift"]},
        {"profiles": 4, "seed": 3},
        {"profiles": 9, "seed": 2024, "tasks": ["trip"], "contexts": [0]},
    )
    for choice in choices:
        chosen = lazily.chosen(**choice)
        assert list(chosen) == recllmsim.chosen(every, **choice)
        assert len(chosen) == len(list(chosen))
    mistakes: tuple[dict[str, Any], ...] = (
        {"tasks": ["te"]},
        {"contexts": [3]},
        {"tasks": ["trip"], "contexts": [0, 1]},
        {"profiles": 10},
    )
    for wrong in mistakes:
        assert fault(partial(lazily.chosen, **wrong)) == fault(partial(recllmsim.chosen, every, **wrong))


def test_a_tasks_file_is_read_without_its_contexts(steps: Steps) -> None:
    lines = [f"    {key}: [{', '.join(str(number) for number in range(10))}]" for key in "ABCDE"]
    written("a.yaml", "t:\n  prompt: 'go [A][B][C][D][E]'\n  options:\n" + "\n".join(lines))
    assert steps(lambda: tasks_on_demand("a.yaml")["t"][99_999]) < 5_000


def test_a_key_and_a_quotation_without_an_end_take_linear_time() -> None:
    word = "a" * 100_000
    prompt = f"[{word}-] " + "[K]"
    assert recllmsim.expand(Template(task="tea", prompt=prompt, options={"K": ("x",)})) == [f"[{word}-] x"]
    quoted = '[K:{"' + '\\"' * 50_000
    assert "the mapping of [K] is not one" in fault(
        recllmsim.expand, Template(task="tea", prompt=quoted, options={"K": ("x",)})
    )


def person(number: int) -> str:
    values = ("Female", "34", "kind", f"nurse {number}", "tea", "by train", "rice", "low", "none")
    return "\n".join(
        f"{place}. {label}: {value}" for place, (label, value) in enumerate(zip(LABELS, values, strict=True), start=1)
    )


LABELS = [label for key, (label, _) in recllmsim.situations.ATTRIBUTES.items() if key in profiles.FIELDS]


def test_a_pool_of_many_profiles_is_read_in_linear_time_and_tells_the_line(steps: Steps) -> None:
    for count in (20, 200):
        written(f"{count}.txt", "\n\n\n".join(map(person, range(count))))
    assert grows_as_its_size(steps, recllmsim.read_pool, "20.txt", "200.txt", 10)
    written("wrong.txt", "\n\n\n".join([person(0), person(1), "nothing"]))
    assert fault(recllmsim.read_pool, "wrong.txt").startswith("wrong.txt: profile 2 (line 23)")


def test_a_profile_that_was_compared_once_is_not_taken_apart_again(steps: Steps) -> None:
    pool = [profiles.Profile.of(person(number)) for number in range(200)]
    first = steps(recllmsim.near_duplicate, pool[0], pool)
    assert steps(recllmsim.near_duplicate, pool[0], pool) < first / 3
