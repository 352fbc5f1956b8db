"""Whatever the model writes, in whatever pieces, whenever it is asked: what was shown and the rest are the answer."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bot.answering.answerer import ModelAnswerer
from bot.answering.drafts import Draft, rest_of
from bot.answering.extractive import ExtractiveAnswerer
from bot.answering.links import without_links
from bot.answering.question import Question
from bot.conversation.markdown import flatten
from bot.conversation.ports import ChatLine
from bot.conversation.wording import Wording
from bot.memory.recall import RecalledFact
from tests.memory_fakes import NOW, make_fact

WORDING = Wording.load("zh_CN")
FROM_MEMORY = "https://evil.example/x"
PIECES = (
    *"。！？.!?，：；\n \"'“”‘’（）()[]【】`*_~|#>-<",
    *(
        "第一句。",
        "您好",
        "3.5",
        "e.g. ",
        "Word. ",
        "a.cn",
        "https://a.cn/?q=1。",
        FROM_MEMORY,
        "evil.example/x",
    ),
    *(
        "**重要**",
        "`代码。`",
        "[链接](https://a.cn/。)",
        "[坏](" + FROM_MEMORY + ")",
        "~~旧~~",
        "……",
        "😀",
        "\r\n",
    ),
    *(
        '<a href="weixin://bizmsgmenu?msgmenucontent=x">',
        "</a>",
        "<A",
        "weixin:/x",
        "\ufdd0",
        "继续",
        "\ufdd1",
    ),
    *("\n\n", "\n- ", "\n1. ", "\n## ", "\n```\n", "\n~~~\n", "\n> ", "\n| a | b |\n", "\n|---|---|\n"),
)
SENTENCE_END = re.compile(r"""[。！？｡!?.][”’」』）)】》〉"'*_~`]*\Z""")

BLOCK_START = re.compile(r"[ \t]*(#{1,6}[ \t]|>|[-*+•][ \t]|\d+[.)、]|```|~~~|\||[-=*_]{3})")


class Streaming:
    """A `ChatModel` that hands on its pieces, and lets somebody look after each."""

    def __init__(self, pieces: Sequence[str], after: Callable[[int], None]) -> None:
        self._pieces = pieces
        self._after = after

    async def complete(
        self,
        lines: Sequence[ChatLine],
        on_text: Callable[[str], None] | None = None,
        schema: Mapping[str, object] | None = None,
    ) -> str:
        assert on_text is not None
        for number, piece in enumerate(self._pieces):
            on_text(piece)
            self._after(number)
        return "".join(self._pieces).strip()


QUESTION = Question(
    text="怎么付款",
    quoted="",
    persona="",
    short_term=(),
    facts=(
        RecalledFact(fact=make_fact(1, f"付款去 {FROM_MEMORY} 或 evil.cn"), score=1, dense=None, lexical=0),
    ),
    passages=(),
    at=NOW,
    is_group=False,
)


def answered(pieces: Sequence[str], moments: set[int], fits: Callable[[str], bool]) -> tuple[str, str]:
    """What was shown when somebody asked at these moments, and the answer."""
    draft = Draft()
    taken: list[str] = []

    def look(number: int) -> None:
        if number in moments:
            taken.append(draft.take(fits))

    answerer = ModelAnswerer(
        model=Streaming(pieces, look), fallback=ExtractiveAnswerer(wording=WORDING), wording=WORDING
    )
    answer = asyncio.run(answerer.answer(QUESTION, draft))
    shown = draft.shown()
    assert set(taken) <= {"", shown}
    return shown, answer.text


texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join).map(str.lstrip)
moments = st.sets(st.integers(0, 12), max_size=3)


def cut(text: str, places: list[int]) -> list[str]:
    at = sorted({min(place, len(text)) for place in places})
    return [text[start:end] for start, end in zip([0, *at], [*at, len(text)], strict=True)]


@given(text=texts, cuts=st.lists(st.integers(0, 120), max_size=10), moments=moments, room=st.integers(0, 400))
@settings(deadline=None, max_examples=150)
def test_what_was_shown_and_the_rest_are_the_answer(
    text: str, cuts: list[int], moments: set[int], room: int
) -> None:
    shown, answer = answered(cut(text, cuts), moments, lambda part: len(part.encode()) <= room)
    assert answer.startswith(shown)
    assert shown + rest_of(answer, shown) == answer
    assert len(shown.encode()) <= room
    if shown:
        behind = without_links(text, "", only=FROM_MEMORY)[len(shown) :]
        assert SENTENCE_END.search(shown) or re.match(r"\s*\n", behind)
        assert not re.match(r"\d", behind) or not shown.endswith(".")
    assert "weixin:/" not in shown
    assert not re.search("[\ufdd0-\ufdef]|<a", shown)
    if "~~~" not in text and "````" not in text and not re.search("[^\\n]```|```[^\\n]", text):
        assert shown.count("```") % 2 == 0


@given(text=texts, cuts=st.lists(st.integers(0, 120), max_size=6), moment=st.integers(0, 6))
@settings(deadline=None, max_examples=150)
def test_parted_it_reads_as_it_would_whole(text: str, cuts: list[int], moment: int) -> None:
    """Rendered by themselves, the parts say what the whole says: no mark of Markdown loses its other half."""
    shown, answer = answered(cut(text, cuts), {moment}, lambda _: True)
    # In its own line a sentence is never followed by these, which a reader takes for the start of a block.
    assume(not BLOCK_START.match(rest_of(answer, shown)))

    def words(*parts: str) -> str:
        return re.sub(r"\s", "", "".join(map(flatten, parts)))

    assert words(shown, rest_of(answer, shown)) == words(answer)
