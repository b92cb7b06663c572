"""The papers' own way: one conversation after another, each call waited for, by the SDK's client that is not async."""

from openai import OpenAI

from .workload import MODEL, Workload


def held(work: Workload) -> int:
    """Hold all conversations one after another; how many messages there are."""
    pages, messages = work.texts, 0
    with OpenAI(base_url=work.url, api_key="none") as client:

        def reply(texts: list[tuple[str, str]]) -> str:
            turns = [{"role": role, "content": text} for role, text in texts]
            answer = client.chat.completions.create(model=MODEL, messages=turns)
            return answer.choices[0].message.content or ""

        for number in range(work.conversations):
            said: list[str] = []
            for _ in range(work.turns):
                said.append(reply(pages.for_user(number, said)))
                said.append(reply(pages.for_assistant(said)))
            messages += len(said)
    return messages
