"""Builds questions bound to a time, where one topic was spoken of at several times."""

from datetime import date, datetime, time, timedelta

from sources import SHANGHAI, fillers, lines_of, moment, seeded, write_jsonl
from windows import windows

NOWS = [
    "2026-11-12",
    "2026-10-15",
    "2026-06-17",
    "2026-11-27",
    "2026-05-22",
    "2026-12-09",
    "2026-03-19",
    "2026-10-23",
    "2026-08-26",
    "2027-01-14",
]
BARRED = ("home", "tech", "media", "work")  # near to repairs, films or moods
EVENTS = {"国庆的时候", "五一的时候", "元旦那天", "双十一那天", "六一那天", "圣诞节那天"}


def read_topics():
    """Return topics as (name, queries, things said)."""
    topics = []
    for line in lines_of("time_topics.txt"):
        if line.startswith("# "):
            name, *queries = [part.strip() for part in line[2:].split("|")]
            topics.append((name, queries, []))
        else:
            topics[-1][2].append(line)
    return topics


def expressions(today, number, rng):
    """Choose an expression of time; sorts of expression take turns."""
    known = windows(today)
    known = {name: span for name, span in known.items() if (today - span[0]).days < 330}
    sorts = [
        lambda n: n in ("昨天", "前天", "大前天", "三天前", "五天前", "今天"),
        lambda n: n in EVENTS,
        lambda n: n.startswith("上周") and len(n) == 3,
        lambda n: n in ("上周", "上个星期", "上上周", "这周", "上个周末"),
        lambda n: n in ("上个月", "上上个月", "去年"),
        lambda n: n[0].isdigit(),
    ]
    names = [name for name in known if sorts[number % len(sorts)](name)] or ["上个月"]
    name = rng.choice(names)
    return name, known[name]


def outside_day(today, span, rng):
    """Return a day near or far outside the window, never later than today."""
    near = [
        span[0] - timedelta(days=1),
        span[1],
        span[0] - timedelta(days=rng.randrange(2, 9)),
        span[1] + timedelta(days=rng.randrange(1, 6)),
    ]
    far = [today - timedelta(days=rng.randrange(1, 300)) for _ in range(4)]
    choices = [day for day in near + far if day <= today and not span[0] <= day < span[1]]
    return rng.choice(choices or [span[0] - timedelta(days=1)])


def any_day(today, rng):
    """Return any day of the last 200."""
    return today - timedelta(days=rng.randrange(0, 200))


def stamp(day, now, rng):
    """Return a moment of that day that is not later than now."""
    return min(moment(day, rng), now - timedelta(minutes=rng.randrange(3, 50)))


def build(number, topics):
    """Return one row."""
    rng = seeded(f"time{number}")
    today = date.fromisoformat(NOWS[number % len(NOWS)])
    now = datetime.combine(today, time(21, 40), SHANGHAI)
    when, span = expressions(today, number, rng)
    name, queries, said = topics[number % len(topics)]
    said = rng.sample(said, len(said))
    inside = span[0] + timedelta(days=rng.randrange((min(span[1], today + timedelta(days=1)) - span[0]).days))
    entries = [(stamp(inside, now, rng), said[0], True)]
    entries += [
        (stamp(outside_day(today, span, rng), now, rng), text, False) for text in said[1 : rng.randint(4, 5)]
    ]
    others = [
        text
        for other in rng.sample([t for t in topics if t[0] != name], 4)
        for text in rng.sample(other[2], 3)
    ]
    others += rng.sample(fillers(BARRED), 30 - len(entries) - len(others))
    for place, text in enumerate(others):
        day = span[0] if place < 2 else any_day(today, rng)
        entries.append((stamp(day, now, rng), text, False))
    entries.sort()
    person = f"t{number + 1:03d}"
    memories = [
        {"id": f"{person}-{place:02d}", "text": text, "at": at.isoformat()}
        for place, (at, text, _) in enumerate(entries, 1)
    ]
    relevant = [memory["id"] for memory, entry in zip(memories, entries, strict=True) if entry[2]]
    window = [datetime.combine(day, time(), SHANGHAI).isoformat() for day in span]
    return {
        "person": person,
        "now": now.isoformat(),
        "memories": memories,
        "topic": name,
        "when": when,
        "query": rng.choice(queries).format(when=when),
        "window": window,
        "relevant": relevant,
    }


if __name__ == "__main__":
    found = read_topics()
    write_jsonl("time_bound.jsonl", [build(number, found) for number in range(100)])
