"""Casts by name and as plain data: settings, specs, import paths, other processes."""

import json
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

import duologue
from duologue.data import Conversation
from duologue.errors import SettingError
from duologue.graphs import Cast, CastFactory, casts, recllmsim, simquac
from duologue.graphs.casts import registry
from duologue.graphs.casts.registry import CastSpec
from duologue.nodes import ContractError, Limits, accept_all, stops, validator
from duologue.prompts import shipped

TOPIC = {"title": "The pier", "header": "Keepers", "section": "Three keepers lived there. The last left in 1968."}


def run(cast: Cast) -> list[Conversation]:
    return duologue.simulate(cast, [simquac.scenario(TOPIC)], limits=Limits(max_turns=2, seed=3))


def test_a_cast_knows_its_spec_which_holds_what_is_not_as_by_default() -> None:
    cast = simquac.cast(user="offline?misbehave=0.5", question_words=9, one_question=False)
    assert cast.spec == CastSpec(cast="simquac", settings={"question_words": 9, "user": "offline?misbehave=0.5"})
    assert recllmsim.as_published().spec == CastSpec(cast="recllmsim", settings={"as_published": True})


def test_a_spec_that_went_through_json_gives_the_same_conversation() -> None:
    cast = simquac.cast(user="offline?misbehave=0.5", question_words=9)
    spec = CastSpec.model_validate_json(json.dumps(cast.plain()))
    assert [c.without_timing() for c in run(spec.build())] == [c.without_timing() for c in run(cast)]


def test_a_pickled_cast_gives_the_same_data_set_in_another_process(forks: Any, tmp_path: Path) -> None:
    cast = (
        simquac.cast(user="offline?misbehave=0.5", no_repeats=True).replace(
            question_validator="own:strict", limits=Limits(max_turns=3)
        )
        if (tmp_path / "own.py").write_text(OWN)
        else None
    )
    assert cast is not None
    pickled = tmp_path / "cast.pickle"
    pickled.write_bytes(pickle.dumps(cast))
    assert len(pickled.read_bytes()) < 1_000  # names and settings, no page, template or client
    code = (
        "import pickle, sys, duologue; from pathlib import Path; from duologue.data import simquac as format; "
        "from duologue.graphs import simquac; "
        "cast = pickle.loads(Path('cast.pickle').read_bytes()); "
        f"format.write(duologue.simulate(cast, [simquac.scenario({TOPIC!r})]), 'there.json')"
    )
    done = forks.run("-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    duologue.data.simquac.write(duologue.simulate(cast, [simquac.scenario(TOPIC)]), tmp_path / "here.json")
    assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()


OWN = '''
from datetime import date
from pathlib import Path
from typing import Any

from duologue import nodes

strict = nodes.validator(lambda draft, state: None if "?" in draft["text"] else "no_question")


def cast(words: int = 5, user: str = "offline", limits: nodes.Limits | None = None):
    """A student of few words."""
    from duologue.graphs import simquac

    return simquac.cast(user, question_words=words).replace(name="own")


def hotel(
    pages: Path = Path("."),
    prices: dict[str, Any] = {},
    day: date | None = None,
    sizes: dict[int, str] = {},
):
    from duologue.graphs import simquac

    values = {"pages": pages, "prices": prices, "day": day, "sizes": sizes}
    return simquac.cast().replace(name=f"hotel {sorted(values.items())!r}")


def needs(words: int):
    """Has no default."""


def none():
    return 3


broken = "text"
'''


@pytest.fixture
def own(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    sys.modules.pop("own", None)


def test_a_function_in_the_working_directory_is_a_cast_with_its_parameters_as_settings(own: None) -> None:
    cast = casts.find("own:cast")(words=7)
    assert cast.name == "own"
    assert cast.spec == CastSpec(cast="own:cast", settings={"words": 7})
    assert pickle.loads(pickle.dumps(cast)).spec == cast.spec
    assert casts.find("own:cast").summary == "A student of few words."


@pytest.mark.parametrize(
    ("name", "settings", "line"),
    [
        ("nothing", {}, "there is no cast 'nothing', only .*simquac.*: or give one as MODULE:FUNCTION"),
        ("nowhere:cast", {}, "No module named 'nowhere'"),
        ("own:other", {}, "has no attribute 'other'"),
        ("own:broken", {}, "own:broken: is str: give a function that returns a Cast"),
        ("own:needs", {}, "its parameter 'words' has no default"),
        ("own:none", {}, "own:none: gave int, not a cast"),
        ("own:cast", {"words": "many"}, "words: .*integer.* not 'many'"),
        ("simquac", {"question_words": 0}, "simquac: question_words: .*greater than or equal to 1, not 0"),
        ("simquac", {"wrods": 1}, "simquac: there is no setting 'wrods', only user, .*question_words"),
    ],
)
def test_a_cast_that_cannot_be_made_is_one_line(own: None, name: str, settings: dict[str, Any], line: str) -> None:
    with pytest.raises(SettingError, match=line):
        casts.find(name)(**settings)


def test_a_module_with_wrong_syntax_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "unfinished.py").write_text("x = 1\ndef cast(:\n")
    with pytest.raises(SettingError, match=r"SyntaxError: .*unfinished.py, line 2"):
        casts.find("unfinished:cast")


def test_a_cast_without_settings_says_so(tmp_path: Path) -> None:
    (tmp_path / "bare.py").write_text("def cast():\n    return None\n")
    with pytest.raises(SettingError, match="there is no setting 'x', it has none"):
        casts.find("bare:cast")(x=1)


def test_a_module_that_fails_when_it_is_imported_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "failing_cast.py").write_text("x = 1\nraise RuntimeError('no database')\n")
    with pytest.raises(SettingError, match=r"RuntimeError: no database \(failing_cast.py, line 2\)"):
        casts.find("failing_cast:cast")


def test_what_keeps_a_cast_in_this_process_is_named() -> None:
    live = simquac.cast(user=FakeListChatModel(responses=["Who?"]), prompts=shipped("simquac"))
    assert live.live == ("prompts is a live object (Library)", "user is a live object (FakeListChatModel)")
    replaced = simquac.cast().replace(question_validator=validator(lambda draft, state: None))
    for cast, word in ((live, "FakeListChatModel"), (replaced, "question_validator")):
        with pytest.raises(ContractError, match=f"cannot be built again in another process: .*{word}"):
            pickle.dumps(cast)
        assert "live" in cast.plain()
        assert run(cast)[0].stop is not None  # it runs here all the same


def test_a_live_part_stands_in_manifests_under_its_name() -> None:
    cast = simquac.cast().replace(stop=stops.any_of(stops.max_turns))
    assert cast.live == ("stop is a live object (AnyOf)",)
    assert cast.describe()["stop"].flat()["name"] == "AnyOf"


def test_a_function_of_a_module_travels_by_its_import_path() -> None:
    cast = simquac.cast().replace(answer_validator=accept_all, stop=stops.max_turns, fallback="Nothing.")
    assert cast.spec is not None
    assert cast.spec.model_dump()["replace"] == {
        "answer_validator": "duologue.nodes.validators.composition:accept_all",
        "stop": "duologue.nodes.stops:max_turns",
        "fallback": "Nothing.",
    }
    there = pickle.loads(pickle.dumps(cast))
    assert (there.answer_validator, there.stop, there.fallback) == (accept_all, stops.max_turns, "Nothing.")


def test_a_part_that_is_replaced_by_none_travels() -> None:
    cast = simquac.cast().replace(fallback=None)
    assert cast.spec == CastSpec(cast="simquac", replace={"fallback": None})
    assert pickle.loads(pickle.dumps(cast)).fallback is None


def test_a_live_part_that_is_replaced_by_a_plain_one_is_no_longer_live() -> None:
    live = simquac.cast(prompts=shipped("simquac")).replace(
        assistant=lambda messages: "Three keepers", question_validator=validator(lambda draft, state: None)
    )
    again = live.replace(assistant="offline", question_validator=accept_all)
    assert live.live[1:] == (
        "assistant is a live object (function)",
        "question_validator is a live object (JudgedBy)",
    )
    assert again.live == ("prompts is a live object (Library)",)
    plain = simquac.cast().replace(assistant=lambda messages: "Three keepers").replace(assistant="offline")
    assert pickle.loads(pickle.dumps(plain)).spec == CastSpec(cast="simquac", replace={"assistant": "offline"})


def test_settings_that_json_gives_back_are_plain(own: None, tmp_path: Path) -> None:
    page = tmp_path / "pages" / "user" / "system.md"
    page.parent.mkdir(parents=True)
    page.write_text(shipped("simquac")["user/system"].source)
    assert simquac.cast(prompts=tmp_path / "pages").plain()["settings"] == {"prompts": str(tmp_path / "pages")}
    values = {
        "pages": Path("pages"),
        "prices": {"room": 90, "key": {"deposit": True}},
        "day": date(2026, 5, 3),
        "sizes": {3: "king"},
    }
    cast = casts.find("own:hotel")(**values)
    assert cast.spec is not None
    assert cast.spec.model_dump()["settings"] == {
        "day": "2026-05-03",
        "pages": "pages",
        "prices": {"room": 90, "key": {"deposit": True}},
        "sizes": {"3": "king"},
    }
    assert pickle.loads(pickle.dumps(cast)).name == cast.name == f"hotel {sorted(values.items())!r}"
    live = casts.find("own:hotel")(prices={"room": object()})
    assert live.live == ("prices is a live object (dict)",)


def test_a_manifest_holds_no_credential_of_nested_settings(own: None) -> None:
    cast = casts.find("own:hotel")(prices={"api_key": "hunter2000", "endpoint": "https://me:secret@host"})
    assert cast.plain()["settings"]["prices"] == {"api_key": "[secret]", "endpoint": "https://[key]@host"}
    assert cast.travelling().model_dump()["settings"]["prices"]["api_key"] == "hunter2000"


def test_a_cast_put_together_by_hand_says_how_it_could_travel() -> None:
    plain = simquac.cast()
    cast = Cast(**{name: getattr(plain, name) for name in (*duologue.nodes.state.PLACES, "name")})
    with pytest.raises(ContractError, match=r"put together by hand .*MODULE:FUNCTION"):
        cast.travelling()


def test_a_notebook_registers_a_cast_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", registry._Registry(dict(casts.registered()), loaded=True))
    factory = casts.register(CastFactory("mine", lambda settings: simquac.cast(settings.user), summary="Mine."))
    assert casts.find("mine") is factory
    assert casts.register(factory) is factory
    other = CastFactory("mine", lambda settings: simquac.cast())
    with pytest.raises(SettingError, match="there is a cast 'mine' already"):
        casts.register(other)
    assert casts.register(other, replace=True) is casts.find("mine") is other
    with pytest.raises(ContractError, match="the cast 'mine' is registered in this process only"):
        pickle.dumps(factory())
    assert simquac.cast().live == recllmsim.cast().live == ()
    replaced = casts.register(CastFactory("simquac", lambda settings: recllmsim.cast()), replace=True)
    assert replaced().live == ("the cast 'simquac' is registered in this process only",)


def test_a_function_or_a_cast_is_registered_by_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", registry._Registry(dict(casts.registered()), loaded=True))
    with pytest.raises(SettingError, match=r"has no name as a cast: give name=..., such as name='desk'"):
        casts.register(lambda user="offline": simquac.cast(user))
    assert casts.register(lambda user="offline": simquac.cast(user), name="desk")().spec.cast == "desk"
    assert casts.register(simquac.cast(), name="other") is casts.find("other")
    with pytest.raises(SettingError, match="give a function that returns a Cast"):
        casts.register(3, name="three")


def test_casts_of_installed_packages_are_loaded_once_by_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, loads = Event(), Event(), []

    class Point:
        name, value, dist = "slow", "own:cast", None

        def load(self) -> Any:
            loads.append(1)
            begun.set()
            assert go_on.wait(900)
            return CastFactory("slow", lambda settings: simquac.cast())

    monkeypatch.setattr(registry, "_registry", registry._Registry())
    monkeypatch.setattr(registry, "entry_points", lambda group: [Point()])
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(casts.registered)
        assert begun.wait(900)
        second = threads.submit(casts.registered)
        with pytest.raises(TimeoutError):
            second.result(timeout=0.2)  # it waits for the first, and does not see half of the casts
        go_on.set()
        assert list(first.result()) == list(second.result()) == ["slow"]
    assert loads == [1]


def test_an_installed_package_adds_a_cast_and_a_broken_one_only_a_warning(
    own: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    about = tmp_path / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[duologue.casts]\nfew = own:cast\nlost = nowhere:cast\nexits = exits:cast\n"
    )
    (tmp_path / "exits.py").write_text("raise SystemExit('no key sk-1234567890')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "_registry", registry._Registry())
    factories = casts.registered()
    assert factories["few"](words=6).spec == CastSpec(cast="few", settings={"words": 6})
    assert "lost" not in factories
    assert factories["few"]().live == ()
    assert "the cast lost of theirs cannot be loaded: ModuleNotFoundError" in caplog.text
    assert "the cast exits of theirs cannot be loaded: SystemExit: no key [key]" in caplog.text
    with pytest.raises(SettingError, match=r"SystemExit: no key \[key\] \(exits.py, line 1\)"):
        casts.find("exits:cast")


def test_help_shows_every_setting_of_a_cast() -> None:
    assert "`question_words`: Set the maximum number of words of a question or message of the user." in (
        simquac.cast.__doc__ or ""
    )
    import inspect

    assert inspect.signature(recllmsim.cast).parameters["may_give_up"].default is False
