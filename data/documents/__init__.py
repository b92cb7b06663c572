"""Documents of the user's own: Markdown, plain text, HTML and Word as headings and paragraphs."""

from .blocks import Block, Document
from .files import SUFFIXES, TEXT, is_document, read

__all__ = ["SUFFIXES", "TEXT", "Block", "Document", "is_document", "read"]
