"""Builds the forgetting list: ten dated memories, a request, and which of them must go."""

from datetime import datetime, timedelta

from sources import SHANGHAI, lines_of, moment, seeded, write_jsonl
from windows import windows

NAMES = {
    "lastweek": "上周",
    "yesterday": "昨天",
    "beforeyesterday": "前天",
    "today": "今天",
    "lastmonth": "上个月",
    "threedays": "三天前",
    "thisweek": "这周",
    "lastmonday": "上周一",
    "lastfriday": "上周五",
    "november1": "11月1号",
}
# A topic that a reader might also count under another one is kept out of its sets.
OVERLAP = {
    "diet": {"drink", "allergy"},
    "drink": {"diet"},
    "health": {"allergy", "diet", "sleep"},
    "school": {"book", "job", "hobby"},
    "job": {"school", "money", "address"},
    "hobby": {"music", "book", "game", "travel", "school"},
    "music": {"hobby"},
    "book": {"hobby", "school"},
    "money": {"job", "order"},
    "game": {"hobby"},
    "order": {"money", "size"},
    "allergy": {"diet", "health"},
    "travel": {"hobby"},
    "pet": {"hobby"},
    "phone": {"game"},
    "love": {"hobby"},
    "公司": {"job"},
    "color": {"car"},
}


def facts():
    """Read the facts as (topic, entity, text)."""
    return [tuple(line.split("|")) for line in lines_of("forget_facts.txt")]


def choose(kind, scope, rng):
    """Pick ten facts such that the request has something to remove and something to keep."""
    pool = facts()
    topic = scope.rsplit("+", 1)[-1]
    if kind in ("topic", "entity", "both", "recent"):
        pool = [fact for fact in pool if fact[0] not in OVERLAP.get(topic, ())]
    wanted = [fact for fact in pool if topic in fact[:2]]
    rest = [fact for fact in pool if topic not in fact[:2]]
    picked = rng.sample(wanted, min(len(wanted), 1 if kind == "recent" else 3)) if wanted else []
    if kind == "none":
        picked = [fact for fact in pool if fact[2] in ("我对花生过敏", "我生日是9月3日")]
    picked += rng.sample([fact for fact in rest if fact not in picked], 10 - len(picked))
    if kind == "recent":
        return picked[1:] + picked[:1]
    rng.shuffle(picked)
    return picked


def times(picked, kind, scope, now, rng):
    """Date the facts in order; two to four of them fall in the window if the request names one."""
    if kind not in ("window", "both"):
        days = sorted(rng.randrange(1, 60) for _ in picked[:-1])[::-1]
        earlier = [moment((now - timedelta(days=day)).date(), rng) for day in days]
        return [*earlier, now - timedelta(minutes=4)]
    start, end = windows(now.date())[NAMES[scope.split("+")[0]]]
    span = (end - start).days
    inside = set(rng.sample(range(10), rng.randint(2, 4)))
    if kind == "both":
        inside = {number for number, fact in enumerate(picked) if fact[0] == scope.split("+")[1]}
        outside = inside.pop()
        inside |= {number for number in range(10) if number != outside and rng.random() < 0.2}
    found = []
    for number in range(10):
        day = start + timedelta(days=rng.randrange(span))
        while (start <= day < end) != (number in inside) or day > now.date():
            day = (
                now.date() - timedelta(days=rng.choice([0, 1, 2, 3, 4, 5, 8, 12, 19, 27, 33, 48, 70]))
                if number not in inside
                else start + timedelta(days=rng.randrange(span))
            )
        found.append(min(moment(day, rng), now - timedelta(minutes=5 + number)))
    return found


def gone(kind, scope, picked, stamps, now):
    """Return the indices that the request removes."""
    every = range(len(picked))
    if kind in ("topic", "entity"):
        return [number for number in every if scope in picked[number][:2]]
    if kind in ("window", "both"):
        start, end = windows(now.date())[NAMES[scope.split("+")[0]]]
        return [
            number
            for number in every
            if start <= stamps[number].date() < end
            and (kind == "window" or picked[number][0] == scope.split("+")[1])
        ]
    return {"last": [len(picked) - 1], "recent": [len(picked) - 1], "all": list(every), "none": []}[kind]


def build(line, number):
    """Return one row for a request line."""
    kind, scope, request = line.split("|")
    rng = seeded(f"forget{number}")
    now = datetime(2026, 11, rng.choice([11, 12, 13, 20, 25, 26, 27]), 22, 30, tzinfo=SHANGHAI)
    picked = choose(kind, scope, rng)
    stamps = times(picked, kind, scope, now, rng)
    order = sorted(range(10), key=lambda item: stamps[item])
    picked, stamps = [picked[item] for item in order], [stamps[item] for item in order]
    removed = gone(kind, scope, picked, stamps, now)
    return {
        "memories": [fact[2] for fact in picked],
        "request": request,
        "kind": kind,
        "gone": removed,
        "kept": [item for item in range(10) if item not in removed],
        "said_at": [stamp.isoformat() for stamp in stamps],
        "now": now.isoformat(),
    }


if __name__ == "__main__":
    write_jsonl("forget.jsonl", [build(line, n) for n, line in enumerate(lines_of("forget_requests.txt"))])
