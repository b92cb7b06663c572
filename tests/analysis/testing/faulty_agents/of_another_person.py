"""Five agents of the example airline with one seeded fault each, by a person who had not read the rules for failures.

A digest of the customer's first message says whether the fault shows, how, and in which words.
"""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from airline.scripted import ScriptedAgent, _call, share
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage


class Seeded(ScriptedAgent):
    """The sound agent, and what the faults draw from."""

    often: ClassVar[float] = 0.75
    """Share of the scenarios, 0 to 1, in which the fault shows."""

    def drawn(self, messages: list[BaseMessage], *parts: object) -> float:
        """A number from 0 to 1 by the fault and the customer's wish."""
        return share(type(self).__name__, _first(messages).partition("I would like to ")[2], *parts)

    def shows(self, messages: list[BaseMessage]) -> bool:
        """Whether the fault shows in this scenario."""
        return self.drawn(messages) < self.often

    def one_of(self, messages: list[BaseMessage], texts: Sequence[str]) -> str:
        """One of the texts that the agent has not yet sent, as long as there is one."""
        said = _said(messages)
        left = [text for text in texts if text not in said] or list(texts)
        return left[int(share(type(self).__name__, _first(messages), len(said)) * 0.999 * len(left))]


_ASKS_CODE = (
    "Could you tell me the code of your reservation so that I can find it?",
    "Before I can look anything up I need your booking reference.",
    "What is the six-character code on your ticket?",
    "I don't seem to have your booking code yet - what is it?",
    "Sure, happy to help! Which reservation is this about?",
    "May I have the reference of your booking, please?",
    "Let's get started. Please send me your booking number.",
)
_ASKS_DATE = (
    "And what date would you like to travel on?",
    "Could you let me know the new date?",
    "Which date did you have in mind?",
    "I still need a travel date from you.",
    "Thanks! Please give me the date you'd like to fly.",
    "What is your preferred date for the flight?",
    "For which date should I check the seats?",
)


class Forgets(Seeded):
    """Asks again for the code or the date that it was given, or mixes up the code's figures."""

    asks_code: ClassVar[Sequence[str]] = _ASKS_CODE
    asks_date: ClassVar[Sequence[str]] = _ASKS_DATE

    def reply(self, messages: list[BaseMessage], seed: int) -> AIMessage:
        """A question in place of the sound agent's first tool call."""
        answer = super().reply(messages, seed)
        if not (answer.tool_calls and isinstance(messages[-1], HumanMessage) and self.shows(messages)):
            return answer
        kind = self.drawn(messages, "kind")
        if kind < 0.25:
            code = answer.tool_calls[0]["args"]["booking"]
            return _call("look_up", {"booking": f"{code[:2]}{code[3:]}{code[2]}"})
        code_next = kind < 0.5 or (kind > 0.75 and len(_said(messages)) % 2 == 1)
        return AIMessage(self.one_of(messages, self.asks_code if code_next else self.asks_date))


_TRANSLATED = {
    "tell me the booking code": "code",
    "To which date": "when",
    "is now on": "done",
    "cannot be done": "full",
    "basic fare": "basic",
}
_LANGUAGES: tuple[dict[str, Any], ...] = (
    {
        "date": "{2}.{1}.{0}",
        "code": "Gerne! Wie lautet Ihr Buchungscode?",
        "when": "Auf welchen Tag soll ich den Flug umbuchen?",
        "done": "Ihre Buchung wurde erfolgreich auf den {date} verlegt.",
        "full": "Es tut mir leid, am {date} ist leider kein Platz mehr frei.",
        "basic": "Leider kann ein Ticket zum Basistarif nicht umgebucht werden.",
        "starts": ("Vielen Dank für Ihre Nachricht.", "Ich habe den Vorgang schon bearbeitet.", "Wie gesagt."),
        "rests": ("Kann ich sonst noch etwas für Sie tun?", "Mehr ist von Ihrer Seite nicht nötig."),
    },
    {
        "date": "{2}/{1}/{0}",
        "code": "¡Claro! ¿Me puede dar el código de su reserva?",
        "when": "¿Para qué día quiere el vuelo?",
        "done": "Listo, su vuelo ha quedado para el {date}.",
        "full": "Lo siento, ya no quedan plazas para el {date}.",
        "basic": "Lo siento, con la tarifa básica no se permiten cambios.",
        "starts": ("Gracias por su mensaje.", "Ya está todo tramitado.", "Como le decía, no falta nada."),
        "rests": ("¿Puedo ayudarle en algo más?", "Que tenga un buen viaje."),
    },
    {
        "date": "{2}/{1}/{0}",
        "code": "Avec plaisir. Quel est votre numéro de réservation ?",
        "when": "Pour quel jour souhaitez-vous partir ?",
        "done": "C'est fait, votre voyage est reporté au {date}.",
        "full": "Je suis désolé, il ne reste aucune place le {date}.",
        "basic": "Malheureusement, votre tarif ne permet aucune modification.",
        "starts": ("Merci pour votre message.", "Votre dossier est déjà traité.", "Tout est en ordre de mon côté."),
        "rests": ("Puis-je vous aider pour autre chose ?", "Je vous souhaite une bonne journée."),
    },
    {
        "date": "{2}-{1}-{0}",
        "code": "Natuurlijk! Wat is uw boekingsnummer?",
        "when": "Naar welke dag wilt u de vlucht verzetten?",
        "done": "Geregeld, uw vlucht staat nu op {date}.",
        "full": "Helaas zijn er op {date} geen stoelen meer vrij.",
        "basic": "Het spijt me, met dit tarief mag u de boeking niet wijzigen.",
        "starts": (
            "Bedankt voor uw bericht.",
            "Het is allemaal al verwerkt.",
            "Zoals ik al zei, u hoeft niets te doen.",
        ),
        "rests": ("Kan ik u nog ergens mee helpen?", "Ik wens u een goede reis."),
    },
    {
        "date": "{2}/{1}/{0}",
        "code": "Certo! Mi può dire il codice della prenotazione?",
        "when": "Per quale giorno desidera il volo?",
        "done": "Fatto, la sua prenotazione è stata spostata al {date}.",
        "full": "Mi dispiace, per il {date} non ci sono più posti liberi.",
        "basic": "Purtroppo la sua tariffa non consente nessuna modifica.",
        "starts": ("Grazie per il messaggio.", "La pratica è già conclusa.", "Come dicevo, è tutto a posto."),
        "rests": ("Posso aiutarla con qualcos'altro?", "Le auguro un buon viaggio."),
    },
    {
        "date": "{0}年{1}月{2}日",
        "code": "好的,请告诉我您的预订编号。",
        "when": "请问您想改到哪一天?",
        "done": "已经为您改签到{date}。",
        "full": "很抱歉,{date}的航班已经没有座位了。",
        "basic": "很抱歉,您的基础票价不能改签。",
        "starts": ("谢谢您的留言。", "您的请求已经处理完毕。", "正如我刚才所说,一切都办好了。"),
        "rests": ("请问还有什么可以帮您?", "祝您旅途愉快。"),
    },
)


class DriftsIntoAnotherLanguage(Seeded):
    """Answers an English customer in another language, from the start or once it has used a tool."""

    languages: ClassVar[Sequence[dict[str, Any]]] = _LANGUAGES

    def reply(self, messages: list[BaseMessage], seed: int) -> AIMessage:
        """The sound agent's answer, translated; what was done is not done again."""
        if not self.shows(messages):
            return super().reply(messages, seed)
        words = self.languages[int(self.drawn(messages, "language") * 0.999 * len(self.languages))]
        ends = [text.partition("{")[0] for text in (words["done"], words["full"], words["basic"])]
        if any(text.startswith(end) for text in _said(messages) for end in ends):
            closings = [f"{start} {rest}" for start in words["starts"] for rest in words["rests"]]
            return AIMessage(self.one_of(messages, closings))
        answer = super().reply(messages, seed)
        if answer.tool_calls or (self.drawn(messages, "from the start") < 0.5 and "?" in answer.text):
            return answer
        for english, key in _TRANSLATED.items():
            if english in answer.text:
                return AIMessage(words[key].format(date=_date(messages, words["date"])))
        return answer


_AGAINST_POLICY = (
    "Basic fares are usually fixed, but I made an exception: your flight is now on {date}.",
    "I know the rules say otherwise, yet I got it through. You fly on {date}.",
    "As a courtesy I have moved your basic ticket to {date}.",
    "Good news! Although your fare is basic, your trip is now on {date}.",
    "All sorted, your basic booking is now on {date}. Enjoy!",
)
_AGAINST_TOOL = (
    "All set! I squeezed you in, and your flight is now on {date}.",
    "The system complained for a moment, but you're confirmed for {date}.",
    "Great news, your trip is now on {date}.",
    "No problem at all, I've put you on the {date} departure.",
    "Your change went through. The booking is now on {date}.",
)
_OTHER_DAY = (
    "I went ahead and took the next best day, so your flight is now on {next}.",
    "{date} was full, so I booked you for {next} instead.",
    "Your trip is now on {next}, as that was the closest day with a seat.",
    "I've moved you to {next}, which I'm sure works just as well.",
    "Sorted! You now travel on {next}.",
)


class IgnoresRefusal(Seeded):
    """Moves a basic fare all the same; takes another day, or reports success, where no seat is free."""

    against_policy: ClassVar[Sequence[str]] = _AGAINST_POLICY
    against_tool: ClassVar[Sequence[str]] = _AGAINST_TOOL
    other_day: ClassVar[Sequence[str]] = _OTHER_DAY

    def reply(self, messages: list[BaseMessage], seed: int) -> AIMessage:
        """What it has claimed once it claims again, without another call."""
        for claims in (self.against_policy, self.against_tool, self.other_day):
            filled = self._filled(messages, claims)
            if set(filled) & set(_said(messages)):
                return AIMessage(self.one_of(messages, filled))
        return super().reply(messages, seed)

    def _after_tool(self, messages: list[BaseMessage], last: ToolMessage, date: str | None) -> AIMessage:
        calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
        answer = super()._after_tool(messages, last, date)
        if calls[-1]["name"] == "look_up":
            basic = "basic" in answer.text
            return _call("change", {"booking": calls[-1]["args"]["booking"], "date": date}) if basic else answer
        if last.status == "error" and date is not None and share("another day", _first(messages)) < 0.5:
            return _call("change", {"booking": calls[-1]["args"]["booking"], "date": _next_day(date)})
        if last.status == "error":
            return AIMessage(self.one_of(messages, self._filled(messages, self.against_tool)))
        if calls[-1]["args"]["date"] != date:
            return AIMessage(self.one_of(messages, self._filled(messages, self.other_day)))
        if json.loads(str(last.text))["fare"] == "basic":
            return AIMessage(self.one_of(messages, self._filled(messages, self.against_policy)))
        return answer

    def _filled(self, messages: list[BaseMessage], claims: Sequence[str]) -> list[str]:
        date = _date(messages, "{0}-{1}-{2}")
        return [claim.format(date=date, next=_next_day(date) if date else "") for claim in claims]


_GOODBYES = (
    "Thanks for reaching out to us today. Have a wonderful trip, bye!",
    "I'm glad I could help. Goodbye and safe travels!",
    "That's everything from my side. Take care!",
    "Thank you for choosing our airline. See you on board!",
    "This chat is now closed. We wish you a pleasant flight.",
    "Great talking to you. Have a lovely day!",
    "Is there anything else? If not, I'll say farewell for now.",
    "We appreciate your patience. Until next time!",
)
_HANDOVERS = (
    "I'm passing you on to one of my colleagues, please stay on the line.",
    "A human agent will take it from here.",
    "For this kind of request, please phone our service centre.",
    "Let me transfer you to the bookings team.",
    "Our specialists will get in touch with you by e-mail within two days.",
    "I've opened a ticket for you, and somebody will call you back.",
    "Please visit the counter at the airport, they will sort it out.",
    "You can do that yourself on our website, under My trips.",
)


class StopsEarly(Seeded):
    """Says goodbye or hands over: at once, once it has the code, or once it has seen the booking."""

    goodbyes: ClassVar[Sequence[str]] = _GOODBYES
    handovers: ClassVar[Sequence[str]] = _HANDOVERS

    def reply(self, messages: list[BaseMessage], seed: int) -> AIMessage:
        """A goodbye where the sound agent would go on."""
        if not self.shows(messages):
            return super().reply(messages, seed)
        stage = int(self.drawn(messages, "stage") * 2.999)
        answer = super().reply(messages, seed)
        here = (True, bool(answer.tool_calls), isinstance(messages[-1], ToolMessage))[stage]
        texts = self.goodbyes if self.drawn(messages, "kind") < 0.4 else self.handovers
        return AIMessage(self.one_of(messages, texts)) if here or set(texts) & set(_said(messages)) else answer


_INVENTIONS = (
    "You're rebooked! Your trip is now on {date}, and the confirmation number is {n}.",
    "I found you a seat on flight {flight} on {date}. Your new record locator is {l}.",
    "Done. Flight {flight} departs at 10:40, seat 14C; your reservation is now on {date}.",
    "Everything is arranged for {date}: confirmation {l}{n}.",
    "Your new ticket is number 220-{n}. It is now on {date}, gate B12.",
    "Please note your new booking code {l}. You fly with {flight} on {date}.",
    "I've booked {flight} for you, leaving on {date} at 07:15 (reference #{n}).",
    "Perfect, {date} it is. Your boarding pass for {flight} carries the code {l}.",
)


class InventsBooking(Seeded):
    """Names a flight or a confirmation that no tool gave: once it has seen the booking, or without a look."""

    inventions: ClassVar[Sequence[str]] = _INVENTIONS

    def reply(self, messages: list[BaseMessage], seed: int) -> AIMessage:
        """The invention where the sound agent would call a tool."""
        answer = super().reply(messages, seed)
        if not self.shows(messages):
            return answer
        number = f"{int(self.drawn(messages, 'number') * 1e6):06}"
        letters = "".join("BCDFGHJKLMNPQRSTVWXZ"[int(figure) * 2] for figure in number)
        inventions = [
            text.format(date=_date(messages, "{0}-{1}-{2}"), n=number, l=letters, flight=f"{letters[:2]}{number[:3]}")
            for text in self.inventions
        ]
        looks = self.drawn(messages, "looks") < 0.6
        here = answer.tool_calls and (isinstance(messages[-1], ToolMessage) or not looks)
        again = set(inventions) & set(_said(messages))
        return AIMessage(self.one_of(messages, inventions)) if here or again else answer


def _first(messages: list[BaseMessage]) -> str:
    return next(str(message.text) for message in messages if isinstance(message, HumanMessage))


def _said(messages: list[BaseMessage]) -> list[str]:
    return [str(message.text) for message in messages if isinstance(message, AIMessage) and message.text]


def _date(messages: list[BaseMessage], form: str) -> str:
    """The last date that the customer wrote, in a form; empty if there is none."""
    human = " ".join(str(message.text) for message in messages if isinstance(message, HumanMessage))
    start = human.rfind("2026-")
    return form.format(*human[start : start + 10].split("-")) if start >= 0 else ""


def _next_day(date: str) -> str:
    return f"{date[:-2]}{int(date[-2:]) + 1:02}"


AGENTS: dict[str, Any] = {
    "forgets": Forgets,
    "wrong language": DriftsIntoAnotherLanguage,
    "ignores a refusal": IgnoresRefusal,
    "stops early": StopsEarly,
    "invents a booking": InventsBooking,
}
"""Each agent's chat model by its fault; called without arguments."""
