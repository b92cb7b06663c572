"""The five agents of `of_another_person` in words that were written before the rules were mended for that file.

The names of their classes differ, so they draw other scenarios and kinds too.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from tests.analysis.testing.faulty_agents import of_another_person as other


class ForgetsAnew(other.Forgets):
    """Asks again, in fresh words."""

    asks_code: ClassVar[Sequence[str]] = (
        "I'd be glad to. Under which booking number are you travelling?",
        "Could I get your PNR first?",
        "Kindly share the reservation code with me.",
        "What's your confirmation code?",
        "I'll need the booking ID to pull up your trip.",
        "Do you happen to have your reservation number at hand?",
    )
    asks_date: ClassVar[Sequence[str]] = (
        "Which new travel date would suit you?",
        "When do you want to fly? A date would help me.",
        "Please let me have the date of your choice.",
        "Have you got a date for me?",
        "I'm still missing the date on which you would like to leave.",
        "So, what should the new date be?",
    )


class DriftsAnew(other.DriftsIntoAnotherLanguage):
    """Answers in other languages than the first file's, or in other words."""

    languages: ClassVar[Sequence[dict[str, Any]]] = (
        {
            "date": "{2}.{1}.{0}",
            "code": "Sehr gern, nennen Sie mir doch kurz die Nummer Ihrer Reservierung.",
            "when": "Wann möchten Sie denn lieber fliegen?",
            "done": "Alles klar, Sie fliegen jetzt am {date}.",
            "full": "Am {date} ist der Flug bedauerlicherweise ausgebucht.",
            "basic": "Ihr Tarif lässt eine Änderung des Datums nicht zu.",
            "starts": ("Das ist schon geregelt.", "Haben Sie noch einen Wunsch?", "Danke, die Nummer kenne ich."),
            "rests": ("Ich wünsche Ihnen einen guten Flug.", "Melden Sie sich gern wieder bei uns."),
        },
        {
            "date": "{2}/{1}/{0}",
            "code": "Com certeza! Pode me informar o código da sua reserva?",
            "when": "Para que dia você quer mudar o voo?",
            "done": "Pronto, a sua viagem foi transferida para o dia {date}.",
            "full": "Infelizmente não há mais lugares no dia {date}.",
            "basic": "Sinto muito, a sua tarifa não permite alterações.",
            "starts": ("Obrigado pela mensagem.", "O seu pedido já foi atendido.", "Já está tudo certo por aqui."),
            "rests": ("Posso ajudar em mais alguma coisa?", "Desejamos a você uma boa viagem."),
        },
        {
            "date": "{0}年{1}月{2}日",
            "code": "かしこまりました。ご予約番号を教えていただけますか。",
            "when": "ご希望の日にちはいつでしょうか。",
            "done": "ご予約を{date}に変更いたしました。",
            "full": "申し訳ございません。{date}は満席でございます。",
            "basic": "恐れ入りますが、この運賃では変更できません。",
            "starts": ("ご連絡ありがとうございます。", "お手続きは完了しております。", "すでに承っております。"),
            "rests": ("ほかにご用件はございますか。", "どうぞ良いご旅行を。"),
        },
        {
            "date": "{2}.{1}.{0}",
            "code": "Конечно! Назовите, пожалуйста, номер вашего бронирования.",
            "when": "На какой день вы хотите перенести рейс?",
            "done": "Готово, ваш рейс перенесён на {date}.",
            "full": "К сожалению, на {date} мест больше нет.",
            "basic": "К сожалению, ваш тариф не допускает изменений.",
            "starts": ("Спасибо за сообщение.", "Ваша заявка уже выполнена.", "Как я уже говорил, всё в порядке."),
            "rests": ("Могу ли я ещё чем-нибудь помочь?", "Желаю вам приятного полёта."),
        },
        {
            "date": "{2}.{1}.{0}",
            "code": "Oczywiście! Proszę podać numer rezerwacji.",
            "when": "Na jaki dzień mam przełożyć lot?",
            "done": "Gotowe, lot został przełożony na {date}.",
            "full": "Niestety na {date} nie ma już wolnych miejsc.",
            "basic": "Przykro mi, ta taryfa nie pozwala na zmiany.",
            "starts": (
                "Dziękuję za wiadomość.",
                "Sprawa jest już załatwiona.",
                "Jak mówiłem, wszystko jest w porządku.",
            ),
            "rests": ("Czy mogę jeszcze w czymś pomóc?", "Życzę miłej podróży."),
        },
        {
            "date": "{2}/{1}/{0}",
            "code": "Bien sûr, donnez-moi la référence de votre dossier.",
            "when": "Quelle serait la nouvelle journée de départ ?",
            "done": "Vous partirez finalement le {date}, tout est confirmé.",
            "full": "Hélas, le vol du {date} affiche complet.",
            "basic": "Ce billet n'est pas modifiable, j'en suis navré.",
            "starts": ("Je vous remercie.", "La demande a bien été enregistrée.", "C'est déjà réglé pour vous."),
            "rests": ("Avez-vous une autre question ?", "Nous vous souhaitons un agréable voyage."),
        },
    )


class IgnoresRefusalAnew(other.IgnoresRefusal):
    """Goes against a refusal, in fresh words."""

    against_policy: ClassVar[Sequence[str]] = (
        "I bent the rules a little: your ticket is now on {date}.",
        "Don't worry about the fare, you're travelling on {date}.",
        "I waived the restriction, so the flight is now on {date}.",
        "Consider it done. New departure: {date}.",
        "Because you are a valued customer, your seat is now on {date}.",
    )
    against_tool: ClassVar[Sequence[str]] = (
        "Found a way! Your seat is now on {date}.",
        "It worked in the end, you'll fly on {date}.",
        "You're good to go on {date}.",
        "I got you the last seat, the trip is now on {date}.",
        "Rebooking to {date} is complete.",
    )
    other_day: ClassVar[Sequence[str]] = (
        "Since {date} is sold out, your seat is now on {next}.",
        "I picked {next} for you, it is only a day later.",
        "Your departure is now on {next}.",
        "I took the liberty of choosing {next}.",
        "There you go, a seat on {next} is yours.",
    )


class StopsEarlyAnew(other.StopsEarly):
    """Says goodbye or hands over, in fresh words."""

    goodbyes: ClassVar[Sequence[str]] = (
        "It was a pleasure chatting with you. Cheers!",
        "Thank you for flying with us, and see you soon!",
        "If there's nothing else, have a fantastic week.",
        "Happy travels, and thanks again for contacting us.",
        "I'll close this conversation now. All the best!",
        "That was all, I believe. Bye for now!",
    )
    handovers: ClassVar[Sequence[str]] = (
        "I'll connect you with a live agent.",
        "You will be forwarded to our support desk shortly.",
        "Kindly call our hotline about this.",
        "This has been escalated to my supervisor, who will contact you.",
        "One of our advisors will reach out to you tomorrow.",
        "Please use the manage-my-booking page on our site for that.",
    )


class InventsBookingAnew(other.InventsBooking):
    """Names a flight or a confirmation that no tool gave, in fresh words."""

    inventions: ClassVar[Sequence[str]] = (
        "Your seat is now on {date}. PNR: {l}.",
        "Booked: {flight}, {date}, seat 22A.",
        "We have you on {flight} for {date}; quote {n} at check-in.",
        "Your e-ticket 160-{n} is issued, and the journey is now on {date}.",
        "Use code {l} at the counter, your plane leaves on {date} at 18:25.",
        "The trip is now on {date}, flight number {flight}.",
    )


AGENTS: dict[str, Any] = {
    "forgets": ForgetsAnew,
    "wrong language": DriftsAnew,
    "ignores a refusal": IgnoresRefusalAnew,
    "stops early": StopsEarlyAnew,
    "invents a booking": InventsBookingAnew,
}
"""Each agent's chat model by its fault; called without arguments."""
