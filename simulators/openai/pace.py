"""An answer whose pace the question itself asks for, so that one server serves every cell of a test.

Invariant: pure; a question without a marker is left to whoever comes next.
"""

import re

from simulators.openai.answers import Answer, Request

_MARKER = re.compile(r"\[\[([^\[\]]*)\]\]")
_SETTING = re.compile(r"(total|first|rate|stall|delay|sentences|piece)=(\d+(?:\.\d+)?)")


def by_marker(request: Request) -> Answer | None:
    """The answer a marker in the last user line asks for; None without one.

    `[[total=7 first=1 rate=20 stall=3 delay=0.5 sentences=6 piece=8]]`, each optional: seconds until the end, until
    the first piece, pieces per second, seconds of silence in the middle, seconds before the first byte, sentences of
    the answer, characters of a piece. Each sentence repeats the question, so that answers can be told apart.
    """
    found = _MARKER.search(request.question)
    settings = dict(_SETTING.findall(found[1])) if found else {}
    if not settings:
        return None
    asked = " ".join(_MARKER.sub(" ", request.question).split())
    sentences = range(1, int(float(settings.get("sentences", 1))) + 1)
    return Answer(
        text="".join(f"第{number}句答“{asked}”。" for number in sentences),
        total_seconds=float(settings.get("total", 0)),
        first_piece_seconds=float(settings.get("first", 0)),
        pieces_per_second=float(settings.get("rate", 0)),
        stall_seconds=float(settings.get("stall", 0)),
        delay_seconds=float(settings.get("delay", 0)),
        piece_characters=int(float(settings.get("piece", 4))) or 1,
    )
