"""The posted body to plain fields, whatever the body is.

Invariant: the answer is fields or None; no input raises, expands an entity, or passes off a field that
a person smuggled into their text as one WeChat wrote.

wechatpy's parser is not used: it raises ten kinds of errors, turns a repeated FromUserName into a list,
chokes on control characters and loses white space.
"""

import re
from typing import Any, TypeAlias
from xml.parsers import expat
from xml.sax.saxutils import escape

Fields: TypeAlias = dict[str, Any]
"""Element name → text, → Fields where it has children, → list where children repeat."""

_ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 forbids (§2.2, production Char). People do type it; WeChat passes it on."""
_OPENING = re.compile(r"<([A-Za-z_][\w.\-]*)><!\[CDATA\[")
_DEEPEST = 12
"""WeChat nests four levels (SendPicsInfo/PicList/item/PicMd5Sum)."""
_MOST_ELEMENTS = 1000


class _Unreadable(Exception):
    """Stops the parse. Never leaves this module."""


def strip_illegal(text: str) -> str:
    """Without the characters XML 1.0 has no way to carry, lone surrogates among them."""
    return _ILLEGAL.sub("", text)


def read_fields(body: bytes | str) -> Fields | None:
    """The children of the root `<xml>`, white space in values kept.

    None when the body is not UTF-8, not XML, declares a DOCTYPE, repeats a field, or nests too deep.
    """
    try:
        text = body.decode("utf-8-sig") if isinstance(body, bytes) else body.removeprefix("\ufeff")
        return _parse(_free_cdata(strip_illegal(text)).strip())
    except (_Unreadable, expat.ExpatError, ValueError):
        return None


def _free_cdata(xml: str) -> str:
    """Rewrite `<Name><![CDATA[…]]></Name>` as escaped text.

    WeChat does not split a `]]>` that a person typed, so the section ends where its element ends, not
    at the first `]]>`. Read that way, most attempts to break out of the text stay text. One pass: what
    follows a section without such an end is left to the parser as it is.
    """
    parts: list[str] = []
    at = 0
    while opening := _OPENING.search(xml, at):
        closing = f"]]></{opening[1]}>"
        end = xml.find(closing, opening.end())
        if end < 0:
            break
        parts.append(xml[at : opening.start()])
        parts.append(f"<{opening[1]}>{escape(xml[opening.end() : end])}</{opening[1]}>")
        at = end + len(closing)
    parts.append(xml[at:])
    return "".join(parts)


def _parse(xml: str) -> Fields:
    builder = _Builder()
    # The encoding is given, so that one named in the declaration has no say.
    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = builder.refuse
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.Parse(xml.encode(), True)
    fields = builder.root
    # A person can only close their own text by opening a second element of its name: see the tests.
    if not isinstance(fields, dict) or any(isinstance(value, list) for value in fields.values()):
        raise _Unreadable
    return fields


class _Builder:
    """Collects expat's events into nested fields."""

    def __init__(self) -> None:
        self.root: Fields | str = ""
        self._open: list[tuple[str, Fields, list[str]]] = []
        self._elements = 0

    def refuse(self, *_: object) -> None:
        raise _Unreadable

    def start(self, name: str, _attributes: object) -> None:
        self._elements += 1
        is_foreign_root = not self._open and name != "xml"
        if is_foreign_root or self._elements > _MOST_ELEMENTS or len(self._open) >= _DEEPEST:
            raise _Unreadable
        self._open.append((name, {}, []))

    def text(self, text: str) -> None:
        self._open[-1][2].append(text)

    def end(self, _name: str) -> None:
        name, children, texts = self._open.pop()
        text = "".join(texts)
        if children and text.strip():
            raise _Unreadable  # Mixed content is nothing WeChat writes.
        value: Fields | str = children or text
        if not self._open:
            self.root = value
            return
        siblings = self._open[-1][1]
        if name not in siblings:
            siblings[name] = value
        elif isinstance(siblings[name], list):
            siblings[name].append(value)
        else:
            siblings[name] = [siblings[name], value]
