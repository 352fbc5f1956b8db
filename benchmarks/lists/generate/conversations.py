"""Lays hand-written tellings and questions between hand-written ordinary turns."""

from sources import lines_of, seeded, write_jsonl

LENGTH = 40
NEAR, FAR = 8, 30


def ordinary(exclude):
    """Return the ordinary turns whose tag is not excluded."""
    pairs = [line.split(" ", 1) for line in lines_of("ordinary_turns.txt")]
    return [text for tag, text in pairs if tag not in exclude]


def build(number, line):
    """Return one conversation in which a fact is told once and asked twice."""
    exclude, telling, fact, near, far, needs = line.split("|")
    rng = seeded(f"talk{number}")
    told = rng.randint(2, LENGTH - FAR)
    turns = rng.sample(ordinary(exclude.split(",")), LENGTH)
    turns[told - 1], turns[told + NEAR - 1], turns[told + FAR - 1] = telling, near, far
    asked = [{"n": told + gap, "text": text, "needs": needs} for gap, text in ((NEAR, near), (FAR, far))]
    return {
        "id": f"c{number:02d}",
        "turns": [{"n": n, "text": text} for n, text in enumerate(turns, 1)],
        "told": {"n": told, "fact": fact},
        "asked": asked,
    }


if __name__ == "__main__":
    write_jsonl("conversations.jsonl", [build(n, line) for n, line in enumerate(lines_of("tellings.txt"), 1)])
