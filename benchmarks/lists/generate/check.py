"""Checks every blind list: ids exist, substrings are found, dates parse, counts are met."""

import json
from collections import Counter
from datetime import datetime

from sources import ROOT

LEAST = {
    "recall_adversarial.jsonl": 120,
    "recall_natural.jsonl": 120,
    "conversations.jsonl": 60,
    "time_bound.jsonl": 100,
    "contradictions.jsonl": 140,
    "forget.jsonl": 80,
    "bot_promises.jsonl": 60,
    "confirmations.jsonl": 60,
    "group_chat.jsonl": 25,
}
WRONG = []


def rows_of(name):
    """Return the rows of a JSONL list."""
    return [json.loads(line) for line in (ROOT / name).read_text(encoding="utf-8").split("\n") if line]


def table_of(name):
    """Return the rows of a TSV list."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.split("\n") if line]


def expect(truth, *what):
    """Note a fault."""
    if not truth:
        WRONG.append(" ".join(str(part) for part in what))


def check_recall(name, persons, low, high):
    """Check one recall list against its memories."""
    stores = {row["person"]: row["memories"] for row in rows_of(f"{name}_memories.jsonl")}
    expect(len(stores) >= persons, name, "too few persons")
    for person, memories in stores.items():
        expect(low <= len(memories) <= high, name, person, len(memories))
        ids, texts = [m["id"] for m in memories], [m["text"] for m in memories]
        expect(len(set(ids)) == len(ids) and len(set(texts)) == len(texts), name, person, "repeats")
        expect(all(datetime.fromisoformat(m["at"]).tzinfo for m in memories), name, person, "time")
    for row in rows_of(f"{name}.jsonl"):
        known = {memory["id"]: memory["text"] for memory in stores[row["person"]]}
        expect(1 <= len(row["relevant"]) <= 3 and set(row["relevant"]) <= set(known), name, row)
        expect(row["query"] not in known.values(), name, "query is a memory", row)


def check_conversations():
    """Check that the needed words occur nowhere but where they were told."""
    for row in rows_of("conversations.jsonl"):
        texts = {turn["n"]: turn["text"] for turn in row["turns"]}
        told = row["told"]["n"]
        expect(len(texts) == 40 and [a["n"] for a in row["asked"]] == [told + 8, told + 30], row["id"])
        for ask in row["asked"]:
            places = [n for n, text in texts.items() if ask["needs"] in text]
            expect(places == [told] and texts[ask["n"]] == ask["text"], row["id"], ask, places)


def check_time():
    """Check that exactly the relevant memory of its topic lies within the window."""
    said, topic = {}, ""
    for line in (ROOT / "source/time_topics.txt").read_text(encoding="utf-8").split("\n"):
        topic = line[2:].split(" ")[0] if line.startswith("# ") else topic
        said[line] = topic
    for row in rows_of("time_bound.jsonl"):
        start, end = (datetime.fromisoformat(moment) for moment in row["window"])
        memories = [(datetime.fromisoformat(m["at"]), m) for m in row["memories"]]
        topical = [(at, m) for at, m in memories if said.get(m["text"]) == row["topic"]]
        inside = [m["id"] for at, m in topical if start <= at < end]
        expect(inside == row["relevant"] and len(inside) == 1, row["person"], inside)
        expect(len(topical) >= 4 and len(memories) == 30, row["person"], "few")
        expect(len({at.date() for at, _ in memories}) >= 12, row["person"], "days")
        expect(max(at for at, _ in memories) <= datetime.fromisoformat(row["now"]), row["person"], "future")


def check_pairs():
    """Check labels, counts and repeats of the minimal pairs."""
    pairs = table_of("minimal_pairs.tsv")
    labels = Counter(row[2] for row in pairs)
    expect(len(pairs) >= 160 and labels["same"] >= 60 and set(labels) == {"same", "different"}, labels)
    expect(len({tuple(row[:2]) for row in pairs}) == len(pairs), "pair repeats")
    expect(all(len(row) == 3 and row[0] != row[1] for row in pairs), "pair shape")


def check_contradictions():
    """Check the substrings of contradictions and the number of non-contradictions."""
    rows = rows_of("contradictions.jsonl")
    expect(sum(1 for row in rows if row.get("both")) >= 40, "both")
    for row in [row for row in rows if not row.get("both")]:
        good = row["current"] in row["second"] and row["current"] not in row["first"] + row["query"]
        expect(good and row["stale"] in row["first"], row)
        expect(row["stale"] not in row["second"] + row["query"], row)


def check_poison():
    """Check the columns and the counts of attacks and harmless sentences."""
    bad, good = table_of("../../tests/data/poison.tsv")[1:], table_of("poison_benign.tsv")[1:]
    expect(len(bad) >= 220 and len(good) >= 120, "poison counts", len(bad), len(good))
    expect(sum(1 for row in bad if row[2] == "1") >= 50, "group claims")
    expect(all(len(row) == 4 and row[1] in "01" and row[2] in "01" for row in bad + good), "columns")
    texts = [row[0] for row in bad + good]
    expect(len(set(texts)) == len(texts), "poison repeats", [t for t, n in Counter(texts).items() if n > 1])


def check_forget():
    """Check that indices part the ten memories and that times are in order."""
    for row in rows_of("forget.jsonl"):
        expect(len(row["memories"]) == len(row["said_at"]) == len(set(row["memories"])) == 10, row)
        expect(sorted(row["gone"] + row["kept"]) == list(range(10)), row)
        expect(bool(row["gone"]) == (row["kind"] != "none"), row["request"], row["gone"])
        expect(bool(row["kept"]) == (row["kind"] != "all"), row["request"], row["kept"])
        stamps = [datetime.fromisoformat(text) for text in row["said_at"] + [row["now"]]]
        expect(stamps == sorted(stamps), "order", row)


def check_bot():
    """Check promises and confirmations."""
    rows = rows_of("bot_promises.jsonl")
    expect(sum(1 for row in rows if not row["promises"]) >= 25, "answers without promise")
    expect(all(part in row["answer"] for row in rows for part in row["promises"]), "promise substrings")
    for row in rows_of("confirmations.jsonl"):
        spoken = (row["bot"] + row["person"]).replace(" ", "")
        expect(all(part in spoken for part in row["fact_should_hold"]), row)
        expect(bool(row["fact_should_hold"]) == row["keep"], row)


def check_groups():
    """Check lengths, calls and that no private word is ever said in the group."""
    for row in rows_of("group_chat.jsonl"):
        calls = [line for line in row["lines"] if line["calls_bot"]]
        expect(30 <= len(row["lines"]) <= 60, row["id"], len(row["lines"]))
        expect(3 <= len(calls) <= 8, row["id"], len(calls))
        said = "\n".join(line["text"] for line in row["lines"])
        expect(row["private"], row["id"], "nothing private")
        for fact in row["private"]:
            expect(fact["never"] in fact["text"] and fact["never"] not in said, row["id"], fact)
        for line in row["lines"]:
            expect(line["calls_bot"] == ("小记" in line["text"]), row["id"], line)


def main():
    """Run all checks and print the faults."""
    check_recall("recall_adversarial", 25, 30, 60)
    check_recall("recall_natural", 20, 40, 40)
    for check in (
        check_conversations,
        check_time,
        check_pairs,
        check_contradictions,
        check_poison,
        check_forget,
        check_bot,
        check_groups,
    ):
        check()
    for name, least in LEAST.items():
        expect(len(rows_of(name)) >= least, name, "too few")
    print("\n".join(WRONG) or "all lists are sound")
    raise SystemExit(bool(WRONG))


if __name__ == "__main__":
    main()
