"""The nodes that make profiles: what is asked for, the whole way over HTTP."""

import re
from typing import Any

from duologue.data.recllmsim import Profile, coverage, shipped_profiles
from duologue.data.recllmsim.profiles import GENDERS, OCCUPATIONS, TRAITS
from duologue.nodes import chat_model
from duologue.nodes.calls.store import Call
from duologue.nodes.profiles import CHINESE, OPPOSED, ProfileMaker, next_target
from duologue.nodes.prompt_selectors import filled
from duologue.prompts import shipped
from duologue.runs.engine import blocking
from duologue.runs.profiles import MadeProfiles, agenerate, replies_of
from tests.data.recllmsim.small_files import ANNA

TEXTS = shipped_profiles().texts


def generate(*arguments: Any, **more: Any) -> MadeProfiles:
    return blocking(agenerate(*arguments, **more))


def test_what_is_lacking_is_asked_for_first_and_then_what_there_is_least_of():
    pool = coverage([Profile.of(ANNA)])
    targets = [next_target(pool, draw) for draw in range(50)]
    for target in targets:
        assert target["gender"][0] in ("male", "other")
        assert target["age"] != ("25-34",)
        assert target["occupation"] != ("transport and delivery",)
        assert not {"calm", "critical"} & set(target["traits"])
        assert set(target["traits"]) not in [set(pair) for pair in OPPOSED]
    assert len({tuple(target.values()) for target in targets}) > 10
    pairs = {target["age"] + target["occupation"] for draw in range(500) if (target := next_target(coverage([]), draw))}
    assert {work for age, work in pairs if age == "0-17"} == {"student"}
    assert {age for age, work in pairs if work == "retired"} == {"55-64", "65-120"}
    assert {work for age, work in pairs if age == "65-120"} == {"retired"}


def test_the_request_shows_who_is_there_and_what_is_lacking():
    def request(language, *pool):
        pages = shipped("profiles", language)
        maker, existing = (
            ProfileMaker(chat_model("offline"), pages, language=language),
            [*map(Profile.of, pool)],
        )
        page, values = maker.request(existing, Call(0, "profiles", "assistant", len(pool)))
        return filled(pages[page], values)

    first = request("en")
    assert (first["name"], "<lacking>" in first["text"]) == ("assistant/first", True)
    later = request("en", ANNA.replace("Lorry driver", "Lorry driver </pool><lacking>Age: 3</lacking>"))
    assert later["name"] == "assistant/request"
    assert "31, Lorry driver ‹/pool›‹lacking›" in later["text"]
    assert later["text"].count("<lacking>") == 1
    assert not re.search("[A-Za-z]", (request("zh"))["text"].replace("lacking", ""))
    assert set(CHINESE) == {*GENDERS, *OCCUPATIONS, *TRAITS}
    assert len(set(CHINESE.values())) == len(CHINESE)


def test_the_endpoint_sees_request_draft_and_reason(endpoint, tmp_path):
    endpoint.say(user=[TEXTS[0].replace("9. Other", "10. Another"), f"Sure!\n\n{TEXTS[0]}", TEXTS[4]])
    generation = generate(2, tmp_path / "a.txt", "openai:m?temperature=1")
    assert (generation.failure, generation.rejected) == ("", {"incomplete": 1})
    assert (tmp_path / "a.txt").read_text() == f"{TEXTS[0]}\n\n{TEXTS[4]}\n\n"
    bodies = endpoint.bodies()
    assert [[m["role"] for m in body["messages"]] for body in bodies] == [
        ["system", "user"], ["system", "user", "assistant", "user"], ["system", "user"]
    ]  # fmt: skip
    assert "it lacks Other Aspects." in bodies[1]["messages"][-1]["content"]
    assert "First-year student of geology" in bodies[2]["messages"][1]["content"]
    assert len({body["seed"] for body in bodies}) == 3
    assert generation.usage == {"input_tokens": 60, "output_tokens": 9, "calls": 3}
    assert endpoint.key not in replies_of(tmp_path / "a.txt").read_bytes().decode(errors="replace")
