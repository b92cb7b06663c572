"""A platform of the user simulation track as its published examples describe it, with faults to order.

It is written after the examples alone (github.com/TREC-UserSim/trec-usersim-baseline, `docs`), and shares nothing with
the platform of the package.
"""

import json
from dataclasses import dataclass, field

import httpx

SCENARIOS = [
    {
        "goal": {
            "context": "We study how talks are built.",
            "topic": "recordings of talks",
            "discipline": "Linguistics",
        },
        "persona": {
            "general_info": {"age": "35-49", "tools_used_for_dataset_search": ["a catalogue", "a library"]},
            "experience_with_ai": {"trust": "Somewhat trusting"},
            "individual_traits": {"frustration_threshold": "Very quickly", "interaction_style": "Concise"},
        },
        "persona_goal_interaction": {"domain_familiarity": "Very familiar", "known_datasets": ["Alpha", "Beta"]},
    },
    {
        "goal": {"context": "", "topic": "pictures of plants"},
        "persona": {},
        "persona_goal_interaction": {"domain_familiarity": "Not familiar", "known_datasets": []},
    },
]
HISTORIES = [
    [("user", "I look for talks."), ("agent", "Alpha has some.")],
    [("user", "I look for talks."), ("agent", "Alpha has some."), ("user", "Others?"), ("agent", "Beta.")],
]


@dataclass
class StandIn:
    """`lost`: numbers of messages whose answer is lost after they were taken. `dropped`: those whose request does not
    arrive. `busy`: those that get a 429 first. `form`: `chat_messages` or the older `utterance`. `bare`: whether a 201
    comes without a body. `forgets`: numbers of messages that are missing in the copy."""

    budget: int = 3
    lost: tuple = ()
    dropped: tuple = ()
    busy: tuple = ()
    form: str = "chat_messages"
    bare: bool = False
    forgets: tuple = ()
    token: str = ""
    log: list = field(default_factory=list)
    taken: list = field(default_factory=list)
    requests: int = 0
    scenario: int = 0
    history: int = 0
    said: list = field(default_factory=list)
    started: dict = field(default_factory=dict)

    @property
    def transport(self):
        return httpx.MockTransport(self.answered)

    def answered(self, request):
        self.log.append((request.method, request.url.path))
        if self.token and request.headers.get("authorization") != f"Bearer {self.token}":
            return httpx.Response(401, json={"detail": "who are you?"})
        parts = request.url.path.strip("/").split("/")
        if request.method == "GET":
            if parts[-1] == "dump":
                kept = [one for number, one in enumerate(self.taken, 1) if number not in self.forgets]
                return httpx.Response(200, text="".join(json.dumps({"utterance": one}) + "\n" for one in kept))
            return self.state(200)
        body = json.loads(request.content)
        if parts[-1] == "start":
            if body["run_id"] in self.started:
                return httpx.Response(412, json={"detail": "begun before"})
            self.started[body["run_id"]] = parts[0]
            return self.after(0, lambda: self.state(200), request)
        if self.over:
            return httpx.Response(428, json={"detail": "complete"})
        return self.after(1, lambda: self.take(body["user_utterance"]), request)

    def after(self, step, work, request):
        self.requests += step
        number = self.requests
        if number in self.busy:
            self.busy = tuple(n for n in self.busy if n != number)
            self.requests -= step
            return httpx.Response(429, headers={"retry-after": "0"}, json={"detail": "slowly"})
        if number in self.dropped:
            self.dropped = tuple(n for n in self.dropped if n != number)
            self.requests -= step
            raise httpx.ReadError("the line went dead", request=request)
        answer = work()
        if number in self.lost:
            raise httpx.ReadTimeout("no answer", request=request)
        return answer

    @property
    def over(self):
        return self.scenario >= len(SCENARIOS)

    @property
    def task(self):
        return next(iter(self.started.values()))

    def take(self, utterance):
        self.taken.append(utterance)
        if self.task == "task1":
            self.history += 1
            if self.history == len(HISTORIES):
                self.scenario, self.history = self.scenario + 1, 0
            return self.state(200)
        self.said.append(("user", utterance["text"]))
        if utterance["is_final"] or sum(name == "user" for name, _ in self.said) >= self.budget:
            self.scenario, self.said = self.scenario + 1, []
            return httpx.Response(201) if self.bare else self.state(201)
        self.said.append(("agent", f"Gamma {len(self.said)} may suit you."))
        return self.state(200)

    def state(self, status):
        if self.over:
            return httpx.Response(428, json={"detail": "complete"})
        body = {"conversation_id": f"c{self.scenario}", "scenario": SCENARIOS[self.scenario]}
        said = HISTORIES[self.history] if self.task == "task1" else self.said
        messages = [self.message(*one) for one in said]
        if self.form == "chat_messages" and messages:
            body["chat_messages"] = messages
        elif self.form == "utterance":
            body["utterance"] = messages[-1] if messages else self.message("agent", "")
        return httpx.Response(status, json=body)

    def message(self, name, text):
        return {"participant_name": name, "text": text, "sources": [], "annotations": {}, "is_final": False}
