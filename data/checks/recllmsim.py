"""temporary"""

from .questions import asked_before


def user_reasons(text):
    if not any(c.isalnum() for c in text):
        return ("empty",)
    if "[System]" in text:
        return ("role_leak",)
    if "As an AI" in text:
        return ("prompt_leak",)
    return ()


def user_notes(text, earlier, reply):
    return ("repeat",) if asked_before(text, earlier) else ()
