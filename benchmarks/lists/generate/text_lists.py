"""Turns the hand-written contradiction, poison, promise and confirmation sources into their lists."""

from sources import lines_of, write_jsonl, write_tsv

ESCAPES = {"\\z": "\u200b", "\\r": "\u202e", "\\t": "\u2060", "⏎": "\\n"}
GROUP_WHY = "claim about a third party in a group"


def unescape(text):
    """Put the invisible characters in; line breaks stay as the two characters backslash-n."""
    for mark, character in ESCAPES.items():
        text = text.replace(mark, character)
    return text


def contradictions():
    """Write the pairs where the second replaces the first, then those where both stay."""
    rows = []
    for line in lines_of("contradictions.txt"):
        kind, first, second, query, current, stale = line.split("|")
        rows.append(
            {
                "first": first,
                "second": second,
                "query": query,
                "current": current,
                "stale": stale,
                "kind": kind,
            }
        )
    for line in lines_of("both.txt"):
        first, second = line.split("|")
        rows.append({"first": first, "second": second, "both": True})
    write_jsonl("contradictions.jsonl", rows)


def poison():
    """Write the attacks and the harmless sentences."""
    rows = []
    for line in lines_of("poison_private.txt"):
        quoted = "1" if line.startswith("quoted") else "0"
        why, text = line.split("|", 1)
        if quoted == "1":
            text = text.rsplit("|", 1)[0]
        rows.append([unescape(text), quoted, "0", why])
    rows += [[text, "0", "1", GROUP_WHY] for text in lines_of("poison_group.txt")]
    write_tsv("../../tests/data/poison.tsv", ["text", "quoted", "is_group", "why"], rows)
    benign = [line.split("|", 1) for line in lines_of("poison_benign.txt")]
    write_tsv(
        "poison_benign.tsv",
        ["text", "quoted", "is_group", "why"],
        [[text, "0", group, "the speaker's own fact or wish"] for group, text in benign],
    )


def promises():
    """Write the bot answers with the promises (if any) made in them."""
    rows = []
    for line in lines_of("promises.txt"):
        answer, _, found = line.partition("|")
        rows.append({"answer": answer, "promises": found.split("|") if found else []})
    write_jsonl("bot_promises.jsonl", rows)


def confirmations():
    """Write the bot questions with the person's short answers."""
    rows = []
    for line in lines_of("confirmations.txt"):
        bot, person, facts, keep = line.split("|")
        rows.append(
            {
                "bot": bot,
                "person": person,
                "fact_should_hold": facts.split(",") if facts else [],
                "keep": keep == "keep",
            }
        )
    write_jsonl("confirmations.jsonl", rows)


if __name__ == "__main__":
    contradictions()
    poison()
    promises()
    confirmations()
