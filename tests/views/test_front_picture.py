"""The picture of the README is of pages as they are."""

import pytest

from tests.views import front_picture


@pytest.mark.heavy
@pytest.mark.long  # by whoever draws the picture anew
@pytest.mark.xdist_group("browser")
def test_the_picture_shows_what_the_pages_show(browser, tmp_path, open_data):
    _, texts = front_picture.parts(browser, front_picture.pages(tmp_path, open_data))
    assert all(texts)
    assert front_picture.texts_of(front_picture.PICTURE) == texts
