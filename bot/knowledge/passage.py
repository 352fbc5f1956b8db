"""The passage: a piece of an operator's document, small enough to quote and to embed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPassage:
    """A piece of a document before it is stored."""

    heading: str
    """The headings above it, joined by " › ". May be ""."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stored passage."""

    id: int
    """0 for what isn't stored: a product, an FAQ rule's answer."""
    document: str
    """The document's name."""
    heading: str
    text: str
    app_id: str = ""
    """The official account or bot it belongs to; "" to all of them."""
