"""The format of lines: 「核心意图：… 是否需要存入长期记忆：是 原因：… 摘要：…」, in any order, on one line or several.

Invariant: total and linear.
"""

import re

_LABELS = {
    "keep": r"是否(?:需要|应该|要|值得)?(?:被)?(?:存入|存储|写入|保存|计入|进入)?(?:到)?(?:长期)?记忆|\bkeep\b",
    "reason": r"原因|理由|\breason\b",
    "summary": r"摘要|总结|概括|\bsummary\b",
    "facts": r"事实|记忆内容|\bfacts?\b",
    "intent": r"(?:核心)?意图|\bintent\b",
    "entities": r"实体|\bentit(?:y|ies)\b",
}
_GAP = r"\1[ \t　]{0,2}"
"""Behind each character of a label: some models put spaces there."""
_SPACED = {name: re.sub("([\u4e00-\u9fff])", _GAP, words) for name, words in _LABELS.items()}
_LABEL = re.compile(
    r"(?:^|(?<=[\s，,。；;|、*#\-\]】.)）:：0-9]))[*#`【\[]{0,3}(?:"
    + "|".join(f"(?P<{name}>{words})" for name, words in _SPACED.items())
    + r")[*`】\]\s]{0,4}[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_AFTER_YES = re.compile(r"[，,。；;（(\s|]")
_TEMPLATE = re.compile(r"^[是否]\s?[/／|或]\s?[是否]|^是否")
_NO = re.compile(
    r"(?:大?可不|可以不|暂时?不|先不|应该?不|应当不|建议不|最好不|否|不|无|没|别|勿|非|no(?![a-z])|false|❌|×|✗|✘)"
)
_YES = re.compile(
    r"(?:是|需|要|存|记|保[留存]|值得|必须|有必要|当然|对|yes|true|✅|√|✓|✔|(?:非常|很|十分)(?:需要|值得|有必要)"
    r"|(?:建议|可以?|应该?|应当|最好)(?:把它|将其|被)?(?:存|记|保|入|写|要))"
)
"""What may still become a no (建议…, 可以…) is one with its verb alone."""
_CLOSED = frozenset("\n。.！!；;|")
_BULLET = re.compile(r"^(?:[\-*•·]|[0-9]{1,2}[.、)）])\s*")
_PAIR = re.compile(r"([A-Za-z_]{4,20}|[\u4e00-\u9fff]{2,6})\s?[:：=]\s?([^,，;；、\n|]{1,200})")


def read_lines(text: str) -> dict[str, object] | None:
    """The fields that were found; None without `keep`."""
    fields: dict[str, object] = {}
    facts: list[str] = []
    labels = list(_LABEL.finditer(text))
    for label, following in zip(labels, (*labels[1:], None), strict=False):
        value = text[label.end() : following.start() if following else len(text)]
        name = str(label.lastgroup)
        if name == "facts":
            facts += _several(value)
            if following is None and facts and value.rstrip(" \t*`")[-1:] not in _CLOSED:
                facts.pop()  # It may have been cut off, and nothing would tell.
        elif name == "entities":
            fields[name] = [{"type": kind, "value": word.strip()} for kind, word in _PAIR.findall(value)]
        else:
            fields.setdefault(name, _first_line(value))
            is_last = name == "summary" and following is None
            fields["is_summary_cut"] = is_last and value.rstrip(" \t*`")[-1:] not in _CLOSED
    keep = str(fields.get("keep", ""))
    if not keep or _TEMPLATE.match(keep):
        return None
    return fields | {"keep": _verdict(keep), "facts": facts}


def _verdict(keep: str) -> str:
    """Yes or no where it begins with a word for one, else its first word."""
    bare = re.sub(r"[\s*`\"'“”「」【】\[\]]", "", keep).casefold()
    if _NO.match(bare):
        return "否"
    return "是" if _YES.match(bare) else _AFTER_YES.split(keep, maxsplit=1)[0]


def _first_line(value: str) -> str:
    lines = value.strip("*` \t\r\n").splitlines()
    return lines[0].strip("*` \t|；;#-，,") if lines else ""


def _several(value: str) -> list[str]:
    pieces = (piece for line in value.splitlines() for piece in re.split("[；;]", line))
    return [fact for piece in pieces if (fact := _BULLET.sub("", piece.strip(" \t*`|")).strip("*` "))]
