"""Word documents (.docx), by mammoth and Beautiful Soup (extra `documents`)."""

import io
import zipfile

from ...errors import DataError, of_extra
from . import hypertext
from .blocks import Block

MOST_BYTES = 200_000_000
"""Most bytes of an unpacked file; more are taken for an attack."""

_STYLES = "\n".join(
    ["p[style-name='Title'] => h1:fresh"]
    + [
        f"{style} => h{level + 1}:fresh"
        for level in range(1, 6)
        for style in (f"p[style-name='heading {level}']", f"p[style-name='Heading {level}']", f"p.Heading{level}")
    ]
)
"""Word's title stands above its headings."""


def word_blocks(content: bytes) -> list[Block]:
    """Headings and text of a Word document, its notes at the end; comments and deleted text are left out.

    Headings are the paragraphs in Word's own styles Title and Heading 1 to 5. MissingExtraError without mammoth.
    """
    mammoth = of_extra("mammoth", "documents")
    soup = of_extra("bs4", "documents").BeautifulSoup
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            size = sum(part.file_size for part in packed.infolist())
        if size > MOST_BYTES:
            raise DataError(f"unpacks to {size:,} bytes, the bound is {MOST_BYTES:,}: save its text alone")
        pictures = mammoth.images.img_element(lambda _: {"src": ""})  # only their alternative text is read
        made = mammoth.convert_to_html(
            io.BytesIO(content), style_map=_STYLES, include_embedded_style_map=False, convert_image=pictures
        )
    except DataError:
        raise
    except Exception as error:  # mammoth has no error of its own for a file that is no Word document
        raise DataError(
            f"is no Word document that can be read ({type(error).__name__}): save it anew as .docx, or as .txt"
        ) from None
    return hypertext.blocks(soup(made.value, "html.parser"))
