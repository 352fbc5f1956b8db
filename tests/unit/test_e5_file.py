"""A file that isn't laid out as it should be is refused, not guessed at."""

from pathlib import Path

import numpy as np
import pytest

from bot.llm import token_embedder
from bot.llm.e5_file import ModelFile, UnknownLayout, unpacked


@pytest.mark.parametrize("content", [b"", b"E5S1", b"GGUF" + bytes(200), b"E5S1" + bytes(200)])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(content)
    with pytest.raises(UnknownLayout):
        ModelFile(path)


def test_numbers_are_unpacked_low_halves_first() -> None:
    block = np.zeros((1, 1), np.dtype([("scale", "<f2"), ("nibbles", "u1", (16,))]))
    block["scale"] = 0.5
    block["nibbles"][0, 0, 0] = 0xF1
    row = unpacked(block)
    assert row.shape == (1, 32)
    assert (row[0, 0], row[0, 16], row[0, 1]) == ((1 - 8) * 0.5, (15 - 8) * 0.5, -4.0)


def test_without_a_file_that_can_be_read_there_is_no_embedder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_embedder, "model_path", lambda: None)
    assert token_embedder.make_token_embedder() is None
    path = tmp_path / "model.bin"
    path.write_bytes(b"another layout")
    monkeypatch.setattr(token_embedder, "model_path", lambda: path)
    assert token_embedder.make_token_embedder() is None
