"""`duologue simulate recllmsim`: tasks x contexts x profiles, in both languages, resumed, and re-enacted."""

import json
import shutil
from pathlib import Path

import pytest

from duologue.data import load, recllmsim
from duologue.runs import write_dataset

PROFILE = "\n".join(
    f"{number}. {label}: {value}"
    for number, (label, value) in enumerate(
        {
            "Gender": "Female", "Age": "41", "Personality": "Calm, exact", "Occupation": "Locksmith",
            "Daily Interests and Hobbies": "Old clocks, rowing", "Travel Habits": "Goes by night train",
            "Dining Preferences": "Eats no fish", "Spending Habits": "Pays in cash", "Other Aspects": "Speaks Danish",
        }.items(),
        start=1,
    )
)  # fmt: skip
TASKS = """
moving house:
  prompt: You move to [PLACE]. Plan the day with the assistant.
  options:
    PLACE: [a village, a harbour town]
"""


@pytest.fixture
def simulate(duologue):
    def simulated(*arguments, out="run"):
        return duologue("simulate", "recllmsim", "--out", out, *arguments)

    return simulated


def contents(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(Path(folder).rglob("*.json"))}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_shipped_task_with_three_profiles_is_simulated_and_read(simulate, language):
    code, out, err = simulate("--language", language, "--sample", "3", "--contexts", "0", "--json")
    document = json.loads(out)
    tasks = recllmsim.shipped_tasks(language)
    assert (code, document["finished"], document["planned"], document["left_out"]) == (
        0,
        3 * len(tasks),
        3 * len(tasks),
        [],
    ), err
    assert set(document["stops"]) == {"user_ended"}
    written = recllmsim.read(write_dataset("run").path)
    assert {recllmsim.variant(one) for one in written} == {"simulated"}
    for one in written:
        about = recllmsim.Situation.of(one)
        assert about.language == language
        assert about.task_context == tasks[about.task][about.task_context_id]
        assert about.preference == recllmsim.shipped_profiles(language).texts[about.preference_id]
        assert one.extra["path"] == f"{about.task}/{about.preference_id}_{about.task_context_id}.json"
        assert [message.role for message in one.messages] == ["user", "assistant"] * (len(one.messages) // 2)
    chinese = [
        any("\u4e00" <= letter <= "\u9fff" for letter in message.text) for one in written for message in one.messages
    ]
    assert all(chinese) if language == "zh" else not any(chinese)


def test_a_file_of_ones_own_tasks_and_profiles_is_what_is_talked_about(simulate):
    Path("tasks.yaml").write_text(TASKS)
    Path("pool.txt").write_text(f"{PROFILE}\n\n{PROFILE.replace('Locksmith', 'Nurse')}\n")
    code, _, err = simulate("--tasks", "tasks.yaml", "--profiles", "pool.txt", "--contexts", "1", "--repeats", "2")
    assert code == 0, err
    assert sorted(contents(write_dataset("run").path)) == [
        f"moving house/{who}_1{again}.json" for who in (0, 1) for again in ("", "_2")
    ]
    (one, *_) = recllmsim.read(write_dataset("run").path)
    assert one.scenario["task_context"] == "You move to a harbour town. Plan the day with the assistant."
    card = Path("run/dataset/README.md").read_text()
    assert "from `tasks.yaml, pool.txt`" in card
    assert "Licence of the source text: not stated" in card
    assert "QuAC" not in card


def test_the_sample_hangs_on_the_seed_and_the_limit_counts_conversations(simulate):
    chosen = []
    for number, seed in enumerate((1, 1, 2)):
        code, _, _ = simulate("--sample", "2", "--limit", "3", "--seed", seed, "--max-turns", "1", out=f"r{number}")
        assert code == 0
        chosen.append([one.scenario["preference_id"] for one in load(f"r{number}")])
        assert len(chosen[-1]) == 3
    assert chosen[0] == chosen[1] != chosen[2]


def test_an_interrupted_run_goes_on_to_the_same_bytes(simulate):
    about = ("--task", "recipe planning", "--contexts", "0", "--contexts", "2", "--sample", "2")
    assert simulate(*about)[0] == 0
    shutil.copytree("run", "cut")
    lines = Path("cut/conversations.jsonl").read_text().splitlines(keepends=True)
    Path("cut/conversations.jsonl").write_text("".join(lines[:2]) + lines[2][:70])
    assert simulate(*about, out="cut")[0] == 0
    one, other = (contents(write_dataset(folder).path) for folder in ("run", "cut"))
    assert len(one) == 4
    assert one == other


def test_rejected_drafts_answers_and_the_goodbye_stay_in_the_run_folder(simulate):
    code, out, _ = simulate(
        "--user", "offline?misbehave=0.5", "--post-questions", "--opens", "assistant", "--limit", "4", "--json"
    )
    document = json.loads(out)
    assert code == 0
    user = next(side for side in document["sides"] if side["role"] == "user")
    assert user["rejected"] > 0
    assert document["stops"]["user_ended"] >= 2
    for one in load("run"):
        assert one.labels["post_questions"]
        assert (one.messages[0].role, one.messages[0].stored) == ("assistant", False)
        ended = one.messages[-1]
        assert (one.stop == "user_ended") == ((ended.role, ended.stored) == ("user", False)), one.stop
    write_dataset("run")
    text = "".join(path.read_text() for path in Path("run/dataset").rglob("*.json"))
    assert text.count('"post_questions"') == 4
    assert "goodbye" not in text.casefold()


@pytest.mark.heavy
def test_what_is_played_again_is_named_where_it_is_odd_or_broken(duologue, simulate, open_data):
    source = open_data / "recllmsim"
    names = ["LLM_agent_user/travel planning/320.json", "human_exp_V2/User_103/旅行规划/3.json"]
    for name in names:
        target = Path("some") / name
        target.parent.mkdir(parents=True)
        shutil.copy(source / name, target)
    Path("some/half.json").write_bytes((source / names[0]).read_bytes()[:900])
    code, out, err = simulate("--user", "replay:some", "--assistant", "replay:some")
    assert code == 1
    assert "begun by the assistant: 1" in err
    assert "ended by the user: 1" in err
    assert "half.json" in err
    write_dataset("run")
    assert all((Path("run/dataset") / name).read_bytes() == (source / name).read_bytes() for name in names)
    assert json.loads(Path("run/manifest.json").read_text())["data"][0]["odd"]["begun by the assistant"] == [names[0]]
    assert "observed" in out
    code, out, _ = duologue("show", "some", "--out", "some.html", "--json")
    assert (code, len(json.loads(out)["broken"])) == (1, 1)


def test_a_users_replies_may_be_played_to_another_assistant(simulate, open_data):
    source = open_data / "recllmsim/LLM_agent_user/recipe planning"
    code, out, err = simulate("--user", f"replay:{source}", "--assistant", "offline", "--limit", "2", "--json")
    assert (code, json.loads(out)["finished"]) == (0, 2), err
    assert {one.provenance.nodes["assistant"].label for one in load("run")} == {"offline"}


def test_equal_profiles_and_profiles_in_another_language_are_said(simulate):
    Path("pool.txt").write_text(f"{PROFILE}\n\n{PROFILE.replace('41', '52')}\n\n{PROFILE}")
    code, _, err = simulate("--profiles", "pool.txt", "--language", "zh", "--limit", "1")
    assert code == 0, err
    assert "pool.txt: 2 of 3 profiles differ (such as 0 = 2)" in err
    assert "the profiles are in en, the run is in zh: give --language en, or others" in " ".join(err.split())


BAD = [
    (("--task", "cooking"), "there is no task 'cooking', only travel planning"),
    (("--contexts", "99"), "there is no context 99"),
    (("--sample", "99"), "99 profiles cannot be drawn from 14"),
    (("--profiles", "short.txt"), "short.txt: profile 0"),
    (("--profiles", "nowhere.txt"), "nowhere.txt: cannot be read"),
    (("--tasks", "open.yaml"), "open.yaml"),
    (("--tasks", "lacks.yaml"), "lacks.yaml"),
    (("--user", "replay:empty"), "empty: holds no"),
    (("--user", "replay:empty", "--profiles", "pool.txt"), "--profiles and --tasks: a replayed side has its own"),
    (("--language", "fr"), "--language"),
    (("--opens", "nobody"), "--opens"),
    (("--assistant", "gpt"), "model 'gpt' is unknown"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input_is_one_line_with_nothing_written(simulate, tmp_path, arguments, message):
    Path("pool.txt").write_text(PROFILE)
    Path("short.txt").write_text(PROFILE.replace("8. Spending Habits: Pays in cash\n", ""))
    Path("open.yaml").write_text("a: {prompt: 'To [PLACE] by [WAY].', options: {PLACE: [Rome]}}")
    Path("lacks.yaml").write_text('a: {prompt: \'To [PLACE:{"Rome": "x"}].\', options: {PLACE: [Rome, Oslo]}}')
    Path("empty").mkdir()
    before = sorted(tmp_path.rglob("*"))
    code, out, err = simulate(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert message in err
    assert sorted(tmp_path.rglob("*")) == before


def test_the_language_of_a_replay_is_that_of_what_is_replayed(simulate, open_data):
    (human, *_) = sorted((open_data / "recllmsim/real_human_user").rglob("*.json"))
    Path("one").mkdir()
    shutil.copy(human, "one/a.json")
    assert simulate("--user", "replay:one", "--assistant", "replay:one", "--language", "zh")[0] == 0
    write_dataset("run")
    assert Path("run/dataset/a.json").read_bytes() == human.read_bytes()
    for language, pages in (((), "zh"), (("--language", "en"), "en")):
        code, _, err = simulate("--user", "replay:one", *language, out=pages)
        assert code == 0, err
        assert (
            json.loads(Path(pages, "manifest.json").read_text())["settings"]["nodes"]["user_prompt_selector"][
                "language"
            ]
            == pages
        )
        line = "1 of 1 scenarios are in another language than the run, which is in en"
        assert (line in " ".join(err.split())) == (pages == "en")
    for *options, useless in (
        ("--user", "replay:one", "--opens", "assistant", "--opens"),
        ("--user", "replay:one", "--handshake", "--may-give-up", "--handshake, --may-give-up"),
        ("--assistant", "replay:one", "--proactive", "--proactive"),
    ):
        code, _, err = simulate(*options, out="none")
        assert (code, err.count("\n")) == (2, 1)
        assert f"{useless}: without effect, a side repeats its stored messages" in err


def test_sides_that_replay_data_about_other_things_are_refused_before_anything_is_written(simulate, open_data):
    files = sorted((open_data / "recllmsim/LLM_agent_user/recipe planning").glob("*.json"))
    for name, chosen in (("some", files[:2]), ("others", files[2:4]), ("more", files[1:4])):
        Path(name).mkdir()
        for file in chosen:
            shutil.copy(file, name)
    code, _, err = simulate("--user", "replay:some", "--assistant", "replay:others")
    assert code == 2
    assert "the assistant replays others, which has no conversation about any of the scenarios" in " ".join(err.split())
    assert not Path("run").exists()
    code, _, err = simulate("--user", "replay:some", "--assistant", "replay:more")
    assert code == 1
    assert "the assistant replays more, which lacks 1 of 2 scenarios: these fail" in " ".join(err.split())


def test_contexts_that_are_not_there_are_told_by_those_that_are(simulate, open_data):
    (human, *_) = sorted((open_data / "recllmsim/real_human_user").rglob("*.json"))
    code, _, err = simulate("--user", f"replay:{human}", "--contexts", "0")
    assert (code, "no context 0" in err) == (2, True)
    Path("some").mkdir()
    for number in (0, 1, 5):
        about = {"task": "tea", "task_context_id": number, "preference": "1. Age: 40", "task_context": "Brew."}
        turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]
        Path(f"some/{number}.json").write_text(json.dumps(about | {"history": turns}))
    code, _, err = simulate("--user", "replay:some", "--contexts", "2")
    assert (code, "no context 2" in err) == (2, True)
