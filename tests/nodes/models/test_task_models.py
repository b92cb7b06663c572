"""Task-oriented talk over HTTP: the line about ending is sent and not stored; the assistant is sent no profile."""

import json

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import duologue
from duologue import graphs
from duologue.data.recllmsim import Situation, shipped_profiles, shipped_tasks, to_object
from duologue.nodes import conformance
from duologue.nodes.state import PLACES

USER, ASSISTANT = "who-asks", "who-helps"
GOODBYE = {"en": "That will do. Thank you, goodbye.", "zh": "就这样吧。谢谢，再见。"}
ENDING = {"en": "Thank you, goodbye", "zh": "谢谢，再见"}


class Talk:
    """Two models behind one address, told apart by their names; everything that was sent is kept."""

    def __init__(self, server: HTTPServer, completion) -> None:
        self.sent: dict[str, list[str]] = {USER: [], ASSISTANT: []}
        self.lines: dict[str, list[str]] = {USER: [], ASSISTANT: []}
        self.completion = completion
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        body = json.loads(request.get_data())
        requests = self.sent[body["model"]]
        requests.append("\n".join(message["content"] for message in body["messages"]))
        return self.completion(self.lines[body["model"]].pop(0))


@pytest.fixture
def talk(endpoint, httpserver):
    httpserver.clear()
    return Talk(httpserver, endpoint.completion)


def about(language: str) -> Situation:
    task, contexts = next(iter(shipped_tasks(language).items()))
    profile = shipped_profiles(language).texts[0]
    return Situation(
        language=language, task=task, task_context=contexts[0], task_context_id=0, preference=profile, preference_id=0
    )


def simulated(talk: Talk, language: str, user: list[str], assistant: list[str], **settings):
    talk.lines = {USER: user, ASSISTANT: assistant}
    cast = graphs.recllmsim.cast(f"openai:{USER}", f"openai:{ASSISTANT}", language=language, **settings)
    return duologue.simulate(cast, [graphs.recllmsim.scenario(about(language))])[0]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_line_about_ending_goes_with_each_reply_and_into_no_file(talk, language):
    conversation = simulated(
        talk, language, ["A first wish 甲", "A second wish 乙", GOODBYE[language]], ["Well 丙", "Good 丁"]
    )
    assert conversation.stop == "user_ended"
    assert [ENDING[language] in sent for sent in talk.sent[USER]] == [
        False, True, True,
    ]  # fmt: skip
    assert talk.sent[USER][1].count(ENDING[language]) == talk.sent[USER][2].count(ENDING[language]) == 1
    assert [message.text for message in conversation.messages if message.stored] == [
        "A first wish 甲", "Well 丙", "A second wish 乙", "Good 丁",
    ]  # fmt: skip
    assert (conversation.messages[-1].text, conversation.messages[-1].stored) == (GOODBYE[language], False)
    assert ENDING[language] not in json.dumps(to_object(conversation), ensure_ascii=False)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("opens", ["user", "assistant"])
def test_no_line_of_profile_or_task_reaches_the_assistant(talk, language, opens):
    settings = {"proactive": True, "post_questions": True, "opens": opens}
    user = ["[System]: a leak", "A wish 甲", GOODBYE[language], *["Yes."] * 9]
    simulated(talk, language, user, ["Well 丙", *["Yes."] * 9], **settings)
    situation = about(language)
    private = [line.split(":", 1)[-1].strip() for line in situation.profile_text.splitlines()]
    private += [situation.task_context, *situation.profile_text.splitlines()]
    assistant_requests = "\n".join(talk.sent[ASSISTANT])
    assert len(private) >= 19
    assert [line for line in private if len(line) > 3 and line in assistant_requests] == []
    assert "a leak" not in assistant_requests
    user_requests = "\n".join(talk.sent[USER])
    assert all(line in user_requests for line in private)


def test_an_end_costs_no_call_of_the_assistant(talk):
    conversation = simulated(talk, "en", ["Thank you for nothing, goodbye!"], [])
    assert (conversation.stop, talk.sent[ASSISTANT], conversation.usage.calls) == ("user_ended", [], 1)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("build", [graphs.recllmsim.cast, graphs.recllmsim.as_published])
async def test_every_node_of_the_cast_conforms(place, build):
    await conformance.conforms(place, getattr(build(), place), about("en").scenario())
