"""Encodings of HTML files, as browsers take them."""

import re

from ...errors import DataError

_WEB = {
    "windows-1252": "ascii us-ascii cp819 cp1252 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 l1 latin1 windows-1252 x-cp1252",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "cp932": "csshiftjis ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "windows-1254": "csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 l5 latin5",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
}
"""Encodings of browsers by the labels that pages declare (WHATWG, Encoding, section 4.2): most pages that declare the first
of a family were written in the last and largest."""
_ENCODINGS = {label: encoding for encoding, labels in _WEB.items() for label in labels.split()}
_CONTROLS = {code: bytes([code]).decode("windows-1252", "ignore") or chr(code) for code in range(0x80, 0xA0)}
_CODED = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]+)|<\?xml[^>]{0,200}encoding=[\"']([\w-]+)", re.I)


def decoded(content: bytes) -> str:
    """The text of an HTML file, decoded by its byte order mark, its declared encoding, or as UTF-8.

    A declared encoding means what browsers take it for: `gb2312` is GB18030, `iso-8859-1` is windows-1252.
    """
    marks = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    encoding = next((name for mark, name in marks.items() if content.startswith(mark)), None)
    if encoding is None:
        match = _CODED.search(content[:4096])
        encoding = (match[1] or match[2]).decode("ascii", "replace").lower() if match else "utf-8"
        if encoding.startswith("utf-16"):  # the declaration could not be read in it
            encoding = "utf-8"
    encoding = _ENCODINGS.get(encoding, encoding)
    if encoding == "windows-1252":  # of which Python's has no characters for five bytes
        return content.decode("latin-1").translate(_CONTROLS)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(f"is not {encoding} at byte {error.start}: save it as UTF-8") from None
    except LookupError:
        raise DataError(f"declares the encoding {encoding!r}, which is not an encoding: save it as UTF-8") from None
