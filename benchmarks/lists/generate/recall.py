"""Builds the two recall lists from hand-written persons, everyday fillers and queries."""

from datetime import date

from sources import fillers, lines_of, moment, random_day, seeded, write_jsonl

ASKED_AT = "2026-11-18T23:30:00+08:00"


def parse_persons(names):
    """Read persons, their labelled memories and their queries from source files."""
    persons = []
    for line in [line for name in names for line in lines_of(name)]:
        if line.startswith("# "):
            words = line[2:].split(" ")
            exclude = {word[1:] for word in words if word.startswith("-")}
            persons.append({"person": words[0], "exclude": exclude, "memories": [], "queries": []})
        elif line.startswith("? "):
            kind, labels, query = line[2:].split(" ", 2)
            persons[-1]["queries"].append((kind, labels.split(","), query))
        else:
            label, text = ("", line[2:]) if line.startswith("- ") else line.split(": ", 1)
            label, _, day = label.partition("@")
            persons[-1]["memories"].append((label, day, text))
    return persons


def build_person(person, low, high):
    """Mix the hand-written memories with fillers, date them, and give ids in order of time."""
    rng = seeded(person["person"])
    own = list(person["memories"])
    pool = [text for text in fillers(person["exclude"]) if text not in {m[2] for m in own}]
    size = rng.randint(low, high)
    own += [("", "", text) for text in rng.sample(pool, size - len(own))]
    dated = []
    for label, day, text in own:
        when = date.fromisoformat(day) if day else random_day(rng)
        dated.append((moment(when, rng), label, text))
    dated.sort(key=lambda item: item[0])
    ids, memories = {}, []
    for number, (when, label, text) in enumerate(dated, 1):
        key = f"{person['person']}-{number:02d}"
        if label:
            ids[label] = key
        memories.append({"id": key, "text": text, "at": when.isoformat()})
    return memories, ids


def build(names, target, low, high):
    """Write one recall list and its memories."""
    rows, stores = [], []
    for person in parse_persons(names):
        memories, ids = build_person(person, low, high)
        stores.append({"person": person["person"], "memories": memories})
        for kind, labels, query in person["queries"]:
            relevant = [ids[label] for label in labels]
            rows.append(
                {
                    "person": person["person"],
                    "query": query,
                    "relevant": relevant,
                    "kind": kind,
                    "now": ASKED_AT,
                }
            )
    write_jsonl(f"{target}_memories.jsonl", stores)
    write_jsonl(f"{target}.jsonl", rows)


def main():
    """Build both lists."""
    build(["persons_adversarial_1.txt", "persons_adversarial_2.txt"], "recall_adversarial", 30, 60)
    build(["persons_natural_1.txt", "persons_natural_2.txt"], "recall_natural", 40, 40)


if __name__ == "__main__":
    main()
