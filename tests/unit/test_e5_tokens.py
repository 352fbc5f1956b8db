"""The tokens of a text: the likeliest way through the pieces, and what no piece covers."""

import numpy as np
import pytest

from bot.llm.e5_file import Vocabulary
from bot.llm.e5_tokens import Tokenizer

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "退", "货", "退货", "▁可以", "ab", "a", "b", "▁a"]
SCORES = [0.0, 0.0, 0.0, 0.0, -2.0, -3.0, -3.0, -4.0, -5.0, -9.0, -4.0, -4.0, -3.0]


def vocabulary(folding: dict[int, str] | None = None) -> Vocabulary:
    encoded = [piece.encode() for piece in PIECES]
    return Vocabulary(
        begin=0,
        end=2,
        unknown=3,
        pieces=np.frombuffer(b"".join(encoded), np.uint8),
        starts=np.cumsum([0, *map(len, encoded)]),
        scores=np.array(SCORES, np.float32),
        folding=folding or {},
    )


def pieces_of(text: str, limit: int = 512, folding: dict[int, str] | None = None) -> list[str]:
    return [PIECES[number] for number in Tokenizer(vocabulary(folding)).numbers(text, limit)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("退货", ["▁", "退货"]),  # one of -4 beside two of -3
        ("退 货", ["▁", "退", "▁", "货"]),
        ("可以退货", ["▁可以", "退货"]),
        ("ab", ["▁a", "b"]),  # ▁ and ab would be -11, ▁a and b are -7
        ("", ["▁"]),
        ("  退   货", ["▁", "退", "▁", "货"]),
    ],
)
def test_the_likeliest_way_wins(text: str, pieces: list[str]) -> None:
    assert pieces_of(text) == ["<s>", *pieces, "</s>"]


def test_what_no_piece_covers_is_unknown_character_by_character() -> None:
    assert pieces_of("退🎉🎉货") == ["<s>", "▁", "退", "<unk>", "<unk>", "货", "</s>"]


def test_characters_are_folded_first() -> None:
    assert pieces_of("Ａ货", folding={ord("Ａ"): "a"}) == ["<s>", "▁a", "货", "</s>"]


def test_the_end_of_a_long_text_is_left_out() -> None:
    assert pieces_of("退货退货退货", limit=4) == ["<s>", "▁", "退货", "</s>"]
