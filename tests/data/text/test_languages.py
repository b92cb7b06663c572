"""The language that a text is written in."""

import pytest

from duologue.data.text.languages import written_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Do you have rye bread today?", "en"),
        ("Los Angeles weather", "en"),
        ("今天有黑麦面包吗？", "zh"),
        ("今天有 rye bread 吗？", "zh"),
        ("123 ?!", None),
        ("", None),
        ("今日はライ麦パンがありますか", "other"),
        ("Есть ли сегодня ржаной хлеб?", "other"),
        ("¿Tienen pan de centeno hoy?", "other"),
        ("Xin chào, hôm nay có bánh mì không?", "other"),
        # Hungarian and Finnish words, none of which the list has
        ("Szeretnék kettőt rendelni holnapra ha lehetséges köszönöm segítséget holnap reggel találkozunk fizethetek kártyával reggel nyolckor hoz valaki kenyeret délután kettőkor", "other"),
    ],
)  # fmt: skip
def test_the_language_is_told_by_letters_and_function_words(text: str, language: str | None) -> None:
    assert written_language(text) == language


def test_a_question_with_pasted_code_is_english() -> None:
    code = "import numpy as np; x = np.zeros((3, 4)); y = x.reshape(5, 2)"
    error = "ValueError: cannot reshape array of size 12 into shape (5,2)"
    assert written_language(f"Why does this fail? {code} {error}") == "en"
