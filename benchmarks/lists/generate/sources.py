"""What all scripts of the lists need: paths, reading of hand-written sources, writing of JSONL."""

import json
import random
from datetime import datetime, timedelta, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "source"
SHANGHAI = timezone(timedelta(hours=8))


def lines_of(name):
    """Return the non-empty, non-comment lines of a source file (``##`` starts a comment)."""
    text = (SOURCE / name).read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line.strip() and not line.startswith("##")]


def write_jsonl(name, rows):
    """Write rows as UTF-8 JSONL into the blind directory."""
    with (ROOT / name).open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print(f"{name}: {len(rows)}")


def write_tsv(name, header, rows):
    """Write a header and rows as tab-separated UTF-8 text."""
    with (ROOT / name).open("w", encoding="utf-8") as out:
        if header:
            out.write("\t".join(header) + "\n")
        out.writelines("\t".join(row) + "\n" for row in rows)
    print(f"{name}: {len(rows)}")


def fillers(exclude=()):
    """Return the everyday filler sentences whose tag is not excluded."""
    pairs = [line.split(" ", 1) for line in lines_of("filler.txt")]
    return [text for tag, text in pairs if tag not in exclude]


def moment(day, rng):
    """Return a waking-hour moment of the given date in Shanghai time."""
    base = datetime(day.year, day.month, day.day, tzinfo=SHANGHAI)
    return base + timedelta(minutes=rng.randrange(7 * 60, 23 * 60))


FIRST_DAY = datetime(2026, 3, 1, tzinfo=SHANGHAI)


def random_day(rng, first=FIRST_DAY, span=260):
    """Return a date within the span of days from the first."""
    return (first + timedelta(days=rng.randrange(span))).date()


def seeded(name):
    """Return a random source that depends only on the name."""
    return random.Random(f"blind:{name}")
