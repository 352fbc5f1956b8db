"""Checks the lists of times, spans, extraction, noise, references and garbled outputs for errors of form."""

import json
import re
from collections import Counter
from datetime import datetime, timedelta

from code_lists import TYPES
from sources import ROOT

WRONG = []
DIGITS = {name: n for n, name in enumerate("零一二三四五六七八九十")} | {"两": 2, "俩": 2, "日": 7, "天": 7}
WEEKDAY = re.compile(r"^(上上|上|这|本|下|)个?(?:周|星期|礼拜)([一二三四五六日天])$")
DISTANCE = re.compile(r"^([0-9]+|[一二三四五六七八九十两俩])(天|周|个?星期|个?礼拜)(?:之?前|之?后)$")


def wrong(name, row, why):
    """Note an error."""
    WRONG.append(f"{name}: {why}: {row}")


def table(name, columns):
    """Return the rows of a table, checking the number of columns."""
    rows = []
    for line in (ROOT / name).read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            rows.append(line.split("\t"))
            if len(rows[-1]) != columns:
                wrong(name, line, "columns")
    print(name, len(rows))
    return rows


def jsonl(name):
    """Return the rows of a JSONL file."""
    rows = [json.loads(line) for line in (ROOT / name).read_text(encoding="utf-8").split("\n") if line]
    print(name, len(rows))
    return rows


def expected_day(expression, today):
    """Return the first day which a plain expression must have, or None."""
    if found := WEEKDAY.match(expression):
        week, day = found[1], DIGITS[found[2]] - 1
        monday = today - timedelta(days=today.weekday())
        if week:
            return monday + timedelta(days={"上上": -14, "上": -7, "下": 7}.get(week, 0) + day)
        return today - timedelta(days=(today.weekday() - day) % 7)
    if found := DISTANCE.match(expression):
        number = int(found[1]) if found[1].isdigit() else DIGITS[found[1]]
        sign = 1 if expression.endswith("后") else -1
        if found[2] == "天":
            return today + timedelta(days=sign * number)
        return today + timedelta(days=sign * 7 * number - 3)
    return None


def check_times():
    """Check the windows."""
    rows = table("time_zh.tsv", 6)
    for row in rows:
        reference, start, end = (datetime.fromisoformat(part) for part in row[1:4])
        today = reference.replace(hour=0, minute=0)
        due = expected_day(row[0], today)
        if not start < end:
            wrong("time_zh", row, "order")
        if due and start != due:
            wrong("time_zh", row, f"day should be {due}")
        if not re.fullmatch(r"(\d+[mhd])?", row[5]) or not row[4]:
            wrong("time_zh", row, "note or tolerance")
    for name, count in Counter(row[0] for row in rows).items():
        if count > 1:
            wrong("time_zh", name, "twice")


def check_spans():
    """Check that spans are substrings in order."""
    rows = table("time_spans.tsv", 2)
    for sentence, spans in rows:
        at = 0
        for span in filter(None, spans.split("|")):
            at = sentence.find(span, at) + len(span)
            if at < len(span) or re.search("[{}]", sentence):
                wrong("time_spans", sentence, span)
    print(
        "  without:", sum(not spans for _, spans in rows), "twice:", len(rows) - len({row[0] for row in rows})
    )


def check_extraction():
    """Check types, substrings and numbers."""
    rows = table("extraction.tsv", 2)
    kinds = Counter()
    for message, entities in rows:
        for entity in filter(None, entities.split(";")):
            kind, value = entity.split("=", 1)
            kinds[kind] += 1
            if kind == "amount":
                value, yuan = value.split("→")
                float(yuan)
            if kind not in TYPES.values() or value not in message or re.search(r"[{}|]", message):
                wrong("extraction", message, entity)
    print("  without:", sum(not entities for _, entities in rows), dict(kinds))
    print("  twice:", [name for name, count in Counter(row[0] for row in rows).items() if count > 1])


def check_noise():
    """Check that every line is a JSON string, none twice."""
    lines = [
        json.loads(line) for line in (ROOT / "noise.tsv").read_text(encoding="utf-8").split("\n") if line
    ]
    if len(set(lines)) != len(lines) or not all(isinstance(line, str) for line in lines):
        wrong("noise", "", "twice or no string")
    print("noise.tsv", len(lines))


def check_orders():
    """Check the customers: answers told, enough turns between, ambiguous ones with two candidates."""
    rows = jsonl("references/orders.jsonl")
    for row in rows:
        said = [turn["text"] + turn.get("bot", "") for turn in row["turns"]]
        wanted = [row["answer"]] if not row["ambiguous"] else row["candidates"]
        places = [[n for n, text in enumerate(said) if answer in text] for answer in wanted]
        if not all(places) or (row["ambiguous"] and len(wanted) < 2):
            wrong("orders", row["customer"], "answer never said")
        last = max(place for at in places for place in at) if all(places) else 0
        if len(said) - 1 - last < 20 or [turn["n"] for turn in row["turns"]] != list(range(1, len(said) + 1)):
            wrong("orders", row["customer"], "turns")
        if any(re.search(r"[{}]", text) for text in [*said, row["question"]["text"]]):
            wrong("orders", row["customer"], "slot left")
        if len(set(row["orders"])) != len(row["orders"]) and not row.get("repeated"):
            wrong("orders", row["customer"], "order twice")
    print("  ambiguous:", sum(row["ambiguous"] for row in rows), Counter(row["kind"] for row in rows))


def check_garbled():
    """Check the outputs: rows, verdicts, names of mutations."""
    rows = jsonl("garbled.jsonl")
    names = Counter(name for row in rows for name in row["mutation"])
    for row in rows:
        for fact in row["expected"]["must_facts"] if row["salvageable"] else []:
            if fact not in [held["text"] for held in row["original"]["facts"]]:
                wrong("garbled", row["output"], "fact")
        if not row["mutation"] and row["output"]:
            wrong("garbled", row["output"], "no mutation")
    print("  salvageable:", sum(row["salvageable"] for row in rows), dict(names))


if __name__ == "__main__":
    for check in (check_times, check_spans, check_extraction, check_noise, check_orders, check_garbled):
        try:
            check()
        except FileNotFoundError as error:
            print("missing", error.filename)
    print("\n".join(WRONG) or "no errors")
