"""Weaves hand-written threads into group conversations in which several talks go on at once."""

import re

from sources import SOURCE, seeded, write_jsonl

CONVERSATIONS = 25
NICKNAMES = [
    "大鹏",
    "阿圆",
    "柚子茶",
    "老莫",
    "晚风",
    "铁锅炖",
    "小满",
    "桃桃",
    "二饼",
    "阿杜",
    "南瓜",
    "鱼丸",
]


def read_threads():
    """Return threads as {"private": [(letter, text, never)], "lines": [(letter, calls, text)]}."""
    threads = []
    for block in (SOURCE / "group_threads.txt").read_text(encoding="utf-8").split("\n\n"):
        thread = {"private": [], "lines": []}
        for line in [line for line in block.strip().split("\n") if not line.startswith("##")]:
            if line.startswith("!"):
                thread["private"].append((line[1], *line[3:].split(" | ")))
            else:
                letter, calls, text = re.findall(r"^([A-Z])(@?): (.+)", line)[0]
                thread["lines"].append((letter, bool(calls), text))
        threads.append(thread)
    return threads


def named(text, cast, names):
    """Put nicknames in the place of the letters that stand for speakers."""
    return re.sub(r"(?<![A-Za-z])[ABC](?![A-Za-z])", lambda found: names[cast[found.group()] - 1], text)


def weave(chosen, rng):
    """Interleave threads in short bursts, keeping the order within each."""
    left = [list(thread) for thread in chosen]
    woven = []
    while any(left):
        thread = rng.choice([thread for thread in left if thread])
        count = rng.choice([1, 1, 2, 3])
        woven += thread[:count]
        del thread[:count]
    return woven


def build(number, chosen, rng):
    """Return one conversation of the chosen threads among six to nine speakers."""
    speakers = list(range(1, rng.randint(6, 9) + 1))
    names = rng.sample(NICKNAMES, len(speakers))
    talks, private = [], []
    for thread in chosen:
        cast = dict(zip("ABC", rng.sample(speakers, 3), strict=True))
        talks.append(
            [(cast[letter], calls, named(text, cast, names)) for letter, calls, text in thread["lines"]]
        )
        private += [
            {"speaker": cast[letter], "text": text, "never": never}
            for letter, text, never in thread["private"]
        ]
    lines = [
        {"speaker": speaker, "text": text, "calls_bot": calls} for speaker, calls, text in weave(talks, rng)
    ]
    return {"id": f"g{number:02d}", "bot": "小记", "names": names, "lines": lines, "private": private}


def main():
    """Deal the threads out, four or five to a conversation, each as seldom as possible."""
    rng, threads, rows, deck = seeded("group"), read_threads(), [], []
    for number in range(1, CONVERSATIONS + 1):
        chosen = []
        while len(chosen) < rng.choice([4, 5, 5]) or len(chosen) < 4:
            deck = deck or rng.sample(threads, len(threads))
            thread = deck.pop()
            if thread not in chosen:
                chosen.append(thread)
        rows.append(build(number, chosen, rng))
    write_jsonl("group_chat.jsonl", rows)


if __name__ == "__main__":
    main()
