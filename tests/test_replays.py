"""Stored conversations again with a changed agent: the user's turns are taken while the answers are those of the record."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

import duologue
from duologue import nodes
from duologue.data.formats import record_lines
from duologue.data.identity import digest
from duologue.errors import DataError, DuologueError, SettingError
from duologue.graphs import Cast
from duologue.graphs.scenarios.forks import replayed
from duologue.studies.agent_trials import AgentSuccess


class Paid(BaseChatModel):
    """A chat model whose reply follows from what it is sent; each call costs, and may be forbidden."""

    replies: tuple[str, ...]
    calls: Counter[str] = Field(default_factory=Counter[str], exclude=True)
    forbidden: bool = Field(default=False, exclude=True)

    @property
    def _llm_type(self) -> str:
        return "paid"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        assert not self.forbidden, "a replay asks no model"
        self.calls["all"] += 1
        number = int(digest([str(message.content) for message in messages])[:6], 16)
        reply = AIMessage(self.replies[number % len(self.replies)])
        reply.usage_metadata = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
        return ChatResult(generations=[ChatGeneration(message=reply)])


def sometimes_rude(draft: Any, state: Any) -> str | None:
    return None if nodes.rejected(state) or len(state["messages"]) % 3 else "rude"


class Clerk:
    """A function with a count of its calls, and an answer of its own at some messages of some conversations."""

    def __init__(self, at: dict[str, int] | None = None) -> None:
        self.at, self.asked_for = at or {}, Counter[str]()

    def __call__(self, messages: list[dict[str, Any]]) -> str:
        first = str(messages[0]["content"])
        self.asked_for[first] += 1
        other = self.at.get(first) == len(messages)
        return f"{'Another' if other else 'An'} answer to {len(messages)} messages. Shall I go on with {len(messages)}?"


def talks(user: BaseChatModel, judge: BaseChatModel, scorer: BaseChatModel, agent: Any) -> Cast:
    """A user, a judge of answers and a scorer that are paid for, with rejected drafts on both sides."""
    return duologue.graphs.agent_test.cast(user=user, assistant=agent).replace(
        question_validator=nodes.validator(sometimes_rude),
        answer_validator=nodes.judge(judge, "Reject what is rude.", ["rude"]),
        closing=nodes.scoring(success=nodes.judged(scorer, "Was the user helped?")),
    )


def replay(source: Any, *, assistant: Any = None, **options: Any) -> AgentSuccess:
    return duologue.test(assistant, source, replay_user=True, **options)


def rows(result: AgentSuccess) -> Any:
    assert result.taken_up is not None
    return result.taken_up.conversations


@pytest.fixture
def run() -> list[duologue.Conversation]:
    """Six conversations of a user by rules, of three turns each."""
    goals = [{"goal": f"book table {number}", "success": {"text_contains": "Another"}} for number in range(6)]
    return list(duologue.test(Clerk(), goals, max_turns=3).records)


def lines(conversations: Any) -> list[str]:
    return [record_lines.line(conversation.without_timing()) for conversation in conversations]


@pytest.mark.heavy
def test_an_unchanged_agent_gives_the_same_records_byte_for_byte_and_only_its_answers_are_judged() -> None:
    user = Paid(replies=tuple(f"Question {number}?" for number in range(7)))
    judge = Paid(replies=tuple(json.dumps({"reason": reason, "explanation": "So."}) for reason in (None, None, "rude")))
    scorer = Paid(replies=tuple(json.dumps({"reason": "So.", "value": value}) for value in (True, False)))
    agent = Clerk()
    goals = duologue.graphs.agent_test.scenarios([{"goal": f"book table {number}"} for number in range(12)])
    stored = duologue.simulate(talks(user, judge, scorer, agent), goals, limits=nodes.Limits(max_turns=3))
    assert all(model.calls["all"] > 0 for model in (user, judge, scorer))
    assert {json.dumps(talk.scores["success"]["value"]) for talk in stored} == {"true", "false"}
    assert any(attempt.verdict == "rejected" for talk in stored for attempt in talk.attempts("user"))
    asked, agent.asked_for = agent.asked_for, Counter()
    user.forbidden = scorer.forbidden = True
    result = replay(stored, cast=talks(user, judge, scorer, agent))
    assert lines(result.records) == lines(stored)
    assert result.taken_up is not None
    assert [row.came_out for row in rows(result)] == ["equal"] * 12
    assert (result.taken_up.saved, result.taken_up.differs_at) == (1.0, {})
    assert agent.asked_for.total() == asked.total()  # it was asked at every message


def test_another_judge_and_another_scorer_are_asked_themselves() -> None:
    silent = Paid(replies=("Question?",))
    kind = Paid(replies=(json.dumps({"reason": None, "explanation": "So."}),))
    helped, stern = (Paid(replies=(json.dumps({"reason": "So.", "value": value}),)) for value in (True, False))
    goals = duologue.graphs.agent_test.scenarios([{"goal": f"book table {number}"} for number in range(3)])
    cast = talks(silent, kind, helped, Clerk())
    stored = duologue.simulate(cast, goals, limits=nodes.Limits(max_turns=2))
    strict = nodes.judge(kind, "Reject what is long.", ["long"])
    closing = nodes.scoring(success=nodes.judged(stern, "Was the user delighted?"))
    silent.forbidden, asked = True, kind.calls["all"]
    result = replay(stored, cast=cast.replace(answer_validator=strict, closing=closing))
    assert (kind.calls["all"], stern.calls["all"]) == (2 * asked, 3)
    assert [talk.scores["success"]["value"] for talk in result.records] == [False] * 3
    assert result.taken_up is not None
    assert result.taken_up.saved == 1.0


def test_an_answer_that_is_changed_at_a_message_forks_there_in_every_conversation() -> None:
    goals = [{"first_message": f"I want table {number}.", "facts": ["for two"]} for number in range(15)]
    stored = duologue.test(Clerk(), goals, max_turns=3).records
    planted = {f"I want table {number}.": (1, 3, 5)[number % 3] for number in range(15)}
    result = replay(list(stored), assistant=Clerk(planted))
    assert [row.differs_at for row in rows(result)] == list(planted.values())
    for old, new in zip(stored, result.records, strict=True):
        assert new.forks is not None
        at = planted[old.messages[0].text]
        assert (new.id, new.forks.id, new.forks.at, new.forks.answers_only) == (old.id, old.id, at - 1, True)
        assert new.without_timing().messages[:at] == old.without_timing().messages[:at]
        assert new.messages[at].text.startswith("Another")
    assert result.taken_up is not None
    assert result.taken_up.differs_at == Counter({1: 5, 3: 5, 5: 5})


def test_what_follows_a_fork_is_what_a_test_of_the_changed_agent_gives(run: list[duologue.Conversation]) -> None:
    planted = {talk.messages[0].text: 3 for talk in run[:3]}
    result = replay(run, assistant=Clerk(planted))
    tested = duologue.test(Clerk(planted), [dict(talk.scenario) for talk in run], max_turns=3).records
    assert [str(talk) for talk in result.records] == [str(talk) for talk in tested]
    assert result.against is not None
    assert [(pair.old, pair.new) for pair in result.against.tested] == [(False, True)] * 3 + [(False, False)] * 3
    suite = result.against.suite
    assert (suite.both, suite.only_old, suite.only_new, suite.neither) == (0, 0, 3, 3)


def test_a_log_is_replayed_as_long_as_the_agent_answers_as_it_did(tmp_path: Path) -> None:
    kept = "An answer to 1 messages. Shall I go on with 1?"
    said = [("user", "Hello."), ("assistant", kept), ("user", "For two."), ("assistant", "No.")]
    log = {"goal": "a table", "messages": [{"role": role, "content": text} for role, text in said]}
    (tmp_path / "log.jsonl").write_text(json.dumps(log) + "\n")
    result = replay(tmp_path / "log.jsonl", assistant=Clerk())
    assert [row.differs_at for row in rows(result)] == [3]
    (talk,) = result.records
    texts = [message.text for message in talk.messages[:4]]
    assert texts == ["Hello.", kept, "For two.", "An answer to 3 messages. Shall I go on with 3?"]


def test_the_agent_does_not_see_what_the_user_will_say(run: list[duologue.Conversation]) -> None:
    seen: list[Any] = []

    async def nosy(state: Any, runtime: Any) -> Any:
        seen.append({*state, *state["origin"]})
        return {"drafts": [{"text": "Hm."}]}

    replay(run[:1], cast="agent_test", assistant=nosy)
    assert seen
    assert not any("replays" in keys for keys in seen)


def test_a_shorter_or_longer_conversation_forks_at_its_end(run: list[duologue.Conversation]) -> None:
    shorter = replay(run[:2], assistant=Clerk(), max_turns=2)
    assert [row.differs_at for row in rows(shorter)] == [len(talk.messages) for talk in shorter.records] == [4, 4]
    longer = replay(run[:2], assistant=Clerk(), max_turns=4)
    assert [(row.differs_at, row.came_out) for row in rows(longer)] == [(6, "longer")] * 2
    assert [len(talk.messages) for talk in longer.records] == [8, 8]


def test_a_run_of_forks_is_replayed_with_its_kept_messages(run: list[duologue.Conversation]) -> None:
    futures = duologue.test(Clerk(), run, from_=f"{run[0].id}:2", repeats=2).records
    result = replay(futures, assistant=Clerk())
    assert lines(result.records) == lines(futures)


def test_a_replay_in_a_folder_goes_on(tmp_path: Path) -> None:
    goals = [{"goal": f"book table {number}"} for number in range(3)]
    duologue.test(Clerk(), goals, max_turns=2, out=tmp_path / "run")
    for _ in range(2):
        result = replay(tmp_path / "run", assistant=Clerk(), out=tmp_path / "again")
    assert ([row.came_out for row in rows(result)], result.folder) == (["equal"] * 3, tmp_path / "again")


def test_what_cannot_be_replayed_is_one_line(run: list[duologue.Conversation], tmp_path: Path) -> None:
    record_lines.write(run, tmp_path / "run.jsonl")
    cases: list[tuple[Any, dict[str, Any], type[DuologueError], str]] = [
        ([], {}, DataError, "has no conversation with messages that came to its end"),
        (tmp_path / "away", {}, DataError, "cannot be read"),
        (run, {"cast": "simquac"}, DataError, "the scenario names no kind"),
        (run, {"nothing": 1}, SettingError, "there is no setting 'nothing'"),
        (tmp_path / "run.jsonl", {"out": tmp_path / "run.jsonl"}, SettingError, "is the run that is taken up"),
    ]
    for source, options, error, line in cases:
        with pytest.raises(error) as raised:
            replay(source, assistant=Clerk(), **options)
        assert line in str(raised.value)
        assert "\n" not in str(raised.value)


def test_a_state_of_a_replay_is_plain_json(run: list[duologue.Conversation]) -> None:
    state = replayed(run[0], source="run")
    assert json.loads(json.dumps(state)) == state
