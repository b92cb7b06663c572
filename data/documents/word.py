"""Word documents (.docx), by mammoth and Beautiful Soup (extra `documents`)."""

import io
import re
import zipfile
from collections import Counter

from ...errors import DataError, of_extra
from . import hypertext
from .blocks import Block

MOST_BYTES = 200_000_000
"""Most bytes of an unpacked file; more are taken for an attack."""
MOST_TEXT = 50_000_000
"""Most bytes of its parts that are XML."""
MOST_TAGS = 500_000
"""Most tags in them, a book of a thousand pages has some hundred thousand."""
MOST_PARAGRAPHS = 20_000
"""Most paragraphs: mammoth takes four thousand a second, and a book of 500 pages has about 10,000."""
MOST_RUNS = 100_000
"""Most pieces of text in one format: ten for each paragraph of that book."""
LONGEST = 1_000_000
"""Most bytes between two tags: Python's reader of XML takes a time that grows as the square of it."""

_BEGUN = re.compile(rb"<(?:[^\s<>/:]{1,100}:)?([pr])[\s/>]")
"""The beginning of a paragraph or run, also of one without content, with any prefix for Word's names."""
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
                raise DataError(f"unpacks to {size:,} bytes, the bound is {MOST_BYTES:,}: save only its text")
            _check_texts(packed)
        pictures = mammoth.images.img_element(lambda _: {"src": ""})  # only their alternative text is read
        converted = mammoth.convert_to_html(
            io.BytesIO(content), style_map=_STYLES, include_embedded_style_map=False, convert_image=pictures
        )
    except DataError:
        raise
    except Exception as error:  # mammoth has no error of its own for a file that is not a Word document
        raise DataError(
            f"is not a Word document that can be read ({type(error).__name__}): save it anew as .docx, or as .txt"
        ) from None
    return hypertext.blocks(soup(converted.value, "html.parser"))


def _check_texts(packed: zipfile.ZipFile) -> None:
    """DataError for a document that would take minutes to read, though it is small as long as it is packed."""
    xml_parts = [part for part in packed.infolist() if part.filename.lower().endswith((".xml", ".rels"))]
    size = sum(part.file_size for part in xml_parts)
    tags = longest = 0
    begun: Counter[bytes] = Counter()
    if size <= MOST_TEXT:
        for part in xml_parts:
            text = packed.read(part).replace(b"\0", b"")  # so that signs of UTF-16 are counted too
            tags += text.count(b"<")
            if tags <= MOST_TAGS:
                begun.update(match[1] for match in _BEGUN.finditer(text))
            longest = max(longest, *map(len, text.split(b"<", MOST_TAGS)))
    for count, bound, what in (
        (size, MOST_TEXT, "bytes of text and form"),
        (tags, MOST_TAGS, "tags"),
        (begun[b"p"], MOST_PARAGRAPHS, "paragraphs"),
        (begun[b"r"], MOST_RUNS, "runs of text in one format"),
        (longest, LONGEST, "bytes in one piece of text"),
    ):
        if count > bound:
            raise DataError(f"has {count:,} {what}, the bound is {bound:,}: give it in parts, or save only its text")
